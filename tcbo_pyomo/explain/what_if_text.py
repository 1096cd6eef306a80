"""The answer to a what-if in words: better or worse, by how much, in variance and in standard deviations."""

from __future__ import annotations

from tcbo_pyomo.explain.what_if import WhatIf
from tcbo_pyomo.foundation.wording import squared_unit, variance_text, with_unit


def what_if_text(answer: WhatIf) -> str:
    """One sentence."""
    changes = " and ".join(f"{name} = {new} instead of {old}" for name, old, new in answer.changes)
    before, after = answer.present.utility_after, answer.changed.utility_after
    who = "the plan found" if answer.present.lower_bound is None else "the best policy"
    now = f"now it is {variance_text(answer.utility_now, answer.unit)}"
    word = verdict(answer)
    if word == "no difference":
        within = "" if before == after else " beyond the optimality gap"
        return f"no difference{within}: with {changes} {who} leaves {variance_text(after, answer.unit)}; {now}"
    amount = with_unit(abs(after - before), squared_unit(answer.unit))
    deviation = with_unit(abs(after**0.5 - before**0.5), answer.unit)
    less = "less" if after < before else "more"
    return (
        f"{word}: with {changes} {who} leaves {variance_text(after, answer.unit)} instead of "
        f"{variance_text(before, answer.unit)}: {amount} {less} variance, {deviation} {less} in sd; {now}"
    )


def verdict(answer: WhatIf) -> str:
    """`better`, `worse`, or `no difference`; `probably` where the optimality gaps of the two plans overlap."""
    present, changed = answer.present, answer.changed
    difference = changed.utility_after - present.utility_after
    gaps = [plan.utility_after - (plan.lower_bound or 0.0) for plan in (present, changed)]
    if present.lower_bound is None:
        gaps = [1e-6 * answer.utility_now] * 2
    word = "better" if difference < 0.0 else "worse"
    # The variance that is left can be certain to have changed, or not.
    sure = gaps[0] if difference < 0.0 else gaps[1]
    if abs(difference) > sure:
        return word
    return "no difference" if abs(difference) <= 0.5 * max(gaps) or difference == 0.0 else f"probably {word}"
