"""The answer to a what-if in words: better or worse, by how much, in variance and in standard deviations."""

from __future__ import annotations

from tcbo_pyomo.explain.explanation import GAP
from tcbo_pyomo.explain.what_if import PlanOutcome, WhatIf
from tcbo_pyomo.foundation.wording import squared_unit, variance_text, with_unit

ACCURACY = 1e-4
"""Continuous plants: smaller differences, as a share of the variance now, may be due to the solver; four digits hide them."""


def what_if_text(answer: WhatIf) -> str:
    """One sentence."""
    changes = " and ".join(f"{name} = {new} instead of {old}" for name, old, new in answer.changes)
    before, after = answer.present.utility_after, answer.changed.utility_after
    who = "the plan found" if answer.present.lower_bound is None else "the best policy"
    now = f"now it is {variance_text(answer.utility_now, answer.unit)}"
    word = verdict(answer)
    if word == "unknown":
        changed, present = (_range(plan, answer.unit) for plan in (answer.changed, answer.present))
        return f"unknown: with {changes} {who} leaves {changed}, without the change {present}; {now}"
    if word == "no difference":
        known = "accuracy of the solver" if answer.present.lower_bound is None else "optimality gap"
        within = "" if before == after else f" beyond the {known}"
        return f"no difference{within}: with {changes} {who} leaves {variance_text(after, answer.unit)}; {now}"
    amount = with_unit(abs(after - before), squared_unit(answer.unit))
    deviation = with_unit(abs(after**0.5 - before**0.5), answer.unit)
    less = "less" if after < before else "more"
    return (
        f"{word}: with {changes} {who} leaves {variance_text(after, answer.unit)} instead of "
        f"{variance_text(before, answer.unit)}: {amount} {less} variance, {deviation} {less} in sd; {now}"
    )


def _range(plan: PlanOutcome, unit: str) -> str:
    """What the best policy leaves at least and at most."""
    return f"{plan.lower_bound or 0.0:.4g} to {with_unit(plan.utility_after, squared_unit(unit))}"


def verdict(answer: WhatIf) -> str:
    """`better`, `worse`, or `no difference`; `probably` where the optimality gaps of the two plans overlap.

    `unknown` where they overlap because a plan was not solved to its gap.
    """
    present, changed = answer.present, answer.changed
    difference = changed.utility_after - present.utility_after
    word = "better" if difference < 0.0 else "worse"
    if present.lower_bound is None:
        return word if abs(difference) > ACCURACY * answer.utility_now else "no difference"
    gaps = [plan.utility_after - (plan.lower_bound or 0.0) for plan in (present, changed)]
    # The variance that is left can be certain to have changed, or not.
    sure = gaps[0] if difference < 0.0 else gaps[1]
    if abs(difference) > sure:
        return word
    if any(map(_unsolved, (present, changed))):
        return "unknown"
    return "no difference" if abs(difference) <= 0.5 * max(gaps) or difference == 0.0 else f"probably {word}"


def _unsolved(plan: PlanOutcome) -> bool:
    """Whether a plan missed the gap that was wanted, and the usual one as well."""
    return bool(plan.gap_missed) and plan.utility_after - (plan.lower_bound or 0.0) > GAP * plan.utility_after
