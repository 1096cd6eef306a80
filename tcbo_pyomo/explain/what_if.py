"""What if a limit were another: the planning problem solved again, and both plans side by side.

Only the plan changes. What is known, the candidates and the moves already made stay as they are, so the two utilities are
variances of the same quantity and can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.assembly import planner_for
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.explain.explanation import GAP, certifying_planner, standpoint
from tcbo_pyomo.explain.limits_by_name import changed_limit
from tcbo_pyomo.explain.move_facts import Point
from tcbo_pyomo.explain.shadow_prices import look_ahead
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.budget import budgets_of
from tcbo_pyomo.models.visitation import mix
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol


@dataclass(frozen=True)
class PlanOutcome:
    """One of the two plans.

    Attributes
    ----------
    utility_after
        The utility after the plan.
    lower_bound
        What no plan under these limits can beat; None for a continuous plant.
    first_moves
        (probability, where it leads) of the next move.
    """

    utility_after: float
    lower_bound: float | None
    first_moves: tuple[tuple[float, Point], ...]


@dataclass(frozen=True)
class WhatIf:
    """A plan under the present limits and one under changed ones.

    Attributes
    ----------
    changes
        (name, present value, changed value), as text.
    utility_now
        Before any further move.
    present, changed
        The two plans.
    by_shadow_price
        The changed utility as the shadow prices of the present plan predict it; None where a change has no price.
    """

    changes: tuple[tuple[str, str, str], ...]
    utility_now: float
    present: PlanOutcome
    changed: PlanOutcome
    by_shadow_price: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for files."""
        return asdict(self)


Outcome = tuple[float, PlanOutcome, float | None]
"""Utility now, a plan, and what its prices predict."""


def what_if(campaign: Campaign, changes: Mapping[str, Any], gap: float | None = None) -> WhatIf:
    """Plan the rest of the episode under changed limits, `{"maximum_step.temperature": "8K", "horizon": 12}`.

    The names are those of `named_limits`; the campaign is not changed.
    """
    if not changes:
        raise BadInput("nothing to change; give at least one limit as name=value")
    problem, step = campaign.problem, campaign.history.situation().step
    other, texts = problem, []
    for name, value in changes.items():
        other, old, new = changed_limit(other, name, value)
        texts.append((name, _text(old), _text(new)))
    if other.horizon <= step:
        raise BadInput(f"horizon {other.horizon}: {step} moves of this episode are made already; give more than that")
    wanted = gap or campaign.settings.planner.gap or GAP
    now, present, predicted = _outcome(problem, campaign, wanted, other)
    _, changed, _ = _outcome(other, campaign, wanted, None)
    return WhatIf(tuple(texts), now, present, changed, predicted)


@singledispatch
def _outcome(problem: ProblemProtocol, campaign: Campaign, gap: float, other: ProblemProtocol | None) -> Outcome:
    """The plan under the limits of `problem`, and what its prices predict for `other`."""
    raise BadInput(f"problem '{problem.name}': a {type(problem).__name__} has no plans to compare")


@_outcome.register
def _(problem: ContinuousProblem, campaign: Campaign, gap: float, other: ContinuousProblem | None) -> Outcome:
    situation, generator, utility = standpoint(campaign)
    plan = planner_for(problem, campaign.settings.planner).plan(utility, situation, generator)
    paths = [(weight, component.states[len(situation.path) :]) for weight, component in plan.components]
    firsts = tuple((weight, problem.describe(tuple(path[0]))) for weight, path in paths)
    return plan.tangent.value, PlanOutcome(utility.value(paths), None, firsts), None


@_outcome.register
def _(problem: Problem, campaign: Campaign, gap: float, other: Problem | None) -> Outcome:
    situation, generator, utility = standpoint(campaign)
    best = certifying_planner(problem, campaign.settings.planner).certified(utility, situation, generator, gap)
    plan = mix(best.components)
    pairs, probabilities = Policy(problem.process, plan).action_probabilities(situation.step, situation.state)
    moves = zip(probabilities.tolist(), pairs.tolist(), strict=True)
    likeliest = [(probability, _likeliest_arrival(problem, pair)) for probability, pair in moves]
    firsts = tuple(sorted(likeliest, key=lambda part: -part[0]))
    outcome = PlanOutcome(best.certificate.upper, best.certificate.lower, firsts)
    predicted = None if other is None else _predicted(problem, other, best.gradient, situation, outcome.utility_after)
    return best.tangent.value, outcome, predicted


def _likeliest_arrival(problem: Problem, pair: int) -> Point:
    row = problem.process.transitions[[pair]]
    return dict(problem.describe(int(row.indices[np.argmax(row.data)])))


def _predicted(problem: Problem, other: Problem, gradient: Array, situation: Situation, utility: float) -> float | None:
    """Utility plus price times change of each budget; None when anything else was changed."""
    if other.horizon != problem.horizon:
        return None
    prices = {row.rule: row.shadow_price for row in look_ahead(problem, gradient, situation).rows}
    limits = {budget.name: budget.limit for budget in budgets_of(other.rules)}
    changed = [before for before, after in zip(problem.rules, other.rules, strict=True) if before is not after]
    if len(budgets_of(changed)) < len(changed) or not {rule.name for rule in changed} <= prices.keys():
        return None
    for budget in budgets_of(changed):
        utility += prices[budget.name] * (limits[budget.name] - budget.limit)
    return max(0.0, utility)


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " to ".join(_text(part) for part in value)
    if isinstance(value, (int, float)):
        return f"{value:g}"
    from pyomo.environ import units
    from pyomo.environ import value as number_of

    return f"{number_of(value):g} {units.get_units(value)}"
