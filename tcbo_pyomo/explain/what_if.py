"""What if a limit were another: the planning problem solved again, and both plans side by side.

Only the plan changes. What is known, the candidates and the moves already made stay as they are, so the two plans leave
variances of the same quantity (`scale`) and can be compared. A larger step that the plant's list of moves does not have is
answered on a plant with the longer moves added, where its states are a grid; otherwise the answer says that it lacks them.
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
from tcbo_pyomo.explain.explanation import GAP, SECONDS, certifying_planner, gap_missed, standpoint
from tcbo_pyomo.explain.limits_by_name import changed_limit, step_of_limit
from tcbo_pyomo.explain.move_facts import Point
from tcbo_pyomo.explain.outstanding import about, as_planned
from tcbo_pyomo.explain.variance_scale import continuous_scale, finite_scale, on_problem
from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.foundation.deadline import Deadline
from tcbo_pyomo.models.visitation import mix
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.plant.longer_moves import missing_steps, why_not_longer, with_longer_moves
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
        The variance that the best policy leaves (of a continuous plant: the plan that was found).
    lower_bound
        What no plan under these limits can beat; None for a continuous plant.
    first_moves
        (probability, where it leads) of the next move.
    gap_missed
        That the gap wanted was not reached, and which one was, in words.
    """

    utility_after: float
    lower_bound: float | None
    first_moves: tuple[tuple[float, Point], ...]
    gap_missed: str = ""


@dataclass(frozen=True)
class WhatIf:
    """A plan under the present limits and one under changed ones.

    Attributes
    ----------
    changes
        (name, present value, changed value), as text.
    utility_now
        The variance before any further move.
    present, changed
        The two plans.
    unit
        Unit of what is measured.
    note
        What the answer had to assume: moves that were added, or that the plant does not have; and a gap that was not reached.
    about
        Whose plans are compared, what is outstanding, and what the variances are of where plans are made for the expected
        regret, in words.
    """

    changes: tuple[tuple[str, str, str], ...]
    utility_now: float
    present: PlanOutcome
    changed: PlanOutcome
    unit: str = ""
    note: str = ""
    about: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for files."""
        return asdict(self)


def what_if(
    campaign: Campaign, changes: Mapping[str, Any], gap: float | None = None, seconds: float = SECONDS
) -> WhatIf:
    """Plan the rest of the episode under changed limits, `{"maximum_step.temperature": "8K", "horizon": 12}`.

    The names are those of `named_limits`; the campaign is not changed. An outstanding schedule is planned once more. Where a
    gap is not reached within so many seconds, for each of the two plans, `note` says so.
    """
    if not changes:
        raise BadInput("nothing to change; give at least one limit as NAME=VALUE")
    which, campaign = about(campaign).replace("explained", "compared"), as_planned(campaign)
    problem, step = campaign.problem, campaign.history.situation().step
    other, texts = problem, []
    for name, value in changes.items():
        other, old, new = changed_limit(other, name, value)
        texts.append((name, _text(old), _text(new)))
    if other.horizon <= step:
        raise BadInput(f"horizon {other.horizon}: {step} moves of this episode are already made; give a longer one")
    wanted = gap or campaign.settings.planner.gap or GAP
    now, present = _outcome(problem, campaign, wanted, Deadline(seconds))
    other, pairs, note = _with_moves(other, list(changes))
    _, changed = _outcome(other, campaign, wanted, Deadline(seconds), pairs)
    missed = [
        f"under the {name} limits {plan.gap_missed}"
        for name, plan in (("present", present), ("changed", changed))
        if plan.gap_missed
    ]
    notes = "; ".join(filter(None, [note, *missed]))
    which = "; ".join(filter(None, [which, _scale_in_words(problem, campaign)]))
    return WhatIf(tuple(texts), now, present, changed, problem.output_unit, notes, which)


@singledispatch
def _with_moves(other: ProblemProtocol, names: list[str]) -> tuple[ProblemProtocol, Integers | None, str]:
    """The changed problem with the moves that the question needs, where each pair is in it, and what was assumed."""
    return other, None, ""


@_with_moves.register
def _(other: Problem, names: list[str]) -> tuple[Problem, Integers | None, str]:
    pairs, notes = np.arange(other.process.number_of_pairs), []
    for name in names:
        asked = step_of_limit(other, name)
        missing = [] if asked is None else missing_steps(other.process, *asked)
        if asked is None or not missing:
            continue
        coordinate, _ = asked
        if why := why_not_longer(other.process):
            notes.append(
                f"{name} needs moves that the plant does not have and that cannot be added because {why}; the answer holds "
                "for the present moves; declare longer moves in the problem file"
            )
            continue
        longer = with_longer_moves(other.process, coordinate, missing)
        pairs, other = longer.pair[pairs], other.changed(process=longer.process)
        notes.append(f"{name} needs moves that the plant does not have: moves of up to {longer.cells} cells were added")
    return other, pairs, "; ".join(notes)


@singledispatch
def _scale_in_words(problem: ProblemProtocol, campaign: Campaign) -> str:
    """What the variances are of, where plans are made for something else."""
    return ""


@_scale_in_words.register
def _(problem: Problem, campaign: Campaign) -> str:
    if campaign.settings.finite_objective != "regret":
        return ""
    return "variances are of the difference between the recommendation and its strongest rival; plans weigh all rivals"


@singledispatch
def _outcome(
    problem: ProblemProtocol, campaign: Campaign, gap: float, deadline: Deadline, pairs: Integers | None = None
) -> tuple[float, PlanOutcome]:
    """The variance now, and the plan under the limits of `problem`; `pairs` says where its pairs are in a longer list."""
    raise BadInput(f"problem '{problem.name}': a {type(problem).__name__} has no plans to compare")


@_outcome.register
def _(
    problem: ContinuousProblem, campaign: Campaign, gap: float, deadline: Deadline, pairs: Integers | None = None
) -> tuple[float, PlanOutcome]:
    (situation, generator, utility), settings = standpoint(campaign), campaign.settings.planner
    planner = planner_for(problem, settings)
    plan = planner.plan(utility, situation, generator)
    ahead = [(weight, component.states[len(situation.path) :]) for weight, component in plan.components]
    firsts = tuple((weight, problem.describe(tuple(states[0]))) for weight, states in ahead)
    paths = [(weight, planner.oracle.measured_points(part, situation.step)) for weight, part in plan.components]
    scale = continuous_scale(utility, plan.tangent.separated, settings)
    return plan.tangent.value, PlanOutcome(scale.value(paths), None, firsts)


@_outcome.register
def _(
    problem: Problem, campaign: Campaign, gap: float, deadline: Deadline, pairs: Integers | None = None
) -> tuple[float, PlanOutcome]:
    (situation, generator, utility), settings = standpoint(campaign), campaign.settings.planner
    scale = on_problem(finite_scale(utility, utility.linearise(None), settings, generator), problem)
    if pairs is not None:
        situation = Situation(situation.path, tuple(int(pairs[pair]) for pair in situation.decisions))
    best = certifying_planner(problem, settings).certified(scale, situation, generator, gap, deadline)
    policy = Policy(problem.process, mix(best.components))
    pairs_now, probabilities = policy.action_probabilities(situation.step, situation.state)
    moves = zip(probabilities.tolist(), pairs_now.tolist(), strict=True)
    likeliest = [(probability, _likeliest_arrival(problem, pair)) for probability, pair in moves]
    firsts = tuple(sorted(likeliest, key=lambda part: -part[0]))
    bounds = best.certificate.upper, best.certificate.lower
    return best.tangent.value, PlanOutcome(*bounds, firsts, gap_missed(best, gap))


def _likeliest_arrival(problem: Problem, pair: int) -> Point:
    row = problem.process.transitions[[pair]]
    return dict(problem.describe(int(row.indices[np.argmax(row.data)])))


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " to ".join(_text(part) for part in value)
    if isinstance(value, (int, float)):
        return f"{value:g}"
    from pyomo.environ import units
    from pyomo.environ import value as number_of

    return f"{number_of(value):g} {units.get_units(value)}"
