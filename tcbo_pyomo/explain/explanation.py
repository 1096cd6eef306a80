"""Explain the next move of a campaign; the campaign itself is not changed."""

from __future__ import annotations

import copy
from functools import singledispatch
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.assembly import planner_for
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.executed_path import executed_path
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.explain.move_facts import Explanation, LimitPrice, MoveOption, Point
from tcbo_pyomo.explain.shadow_prices import LookAhead, look_ahead
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.visitation import Visitation, mix
from tcbo_pyomo.planning.continuous.eager_move import CHOICES
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.eager_move import leads_everywhere
from tcbo_pyomo.planning.finite.planner import FinitePlanner
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import LinearSolverSettings, PlannerSettings

GAP = 0.01
"""How closely the optimum is enclosed where the settings name no gap."""


def explain(campaign: Campaign, gap: float | None = None) -> Explanation:
    """Why the next move is what it is: plan it once more, and look at the duals.

    Parameters
    ----------
    campaign
        Any campaign; of a finished one the first move of a further episode is explained.
    gap
        How closely the optimum is enclosed on a finite process; that of the settings, or 1 %, when not given.
    """
    return _explained(campaign.problem, campaign, gap)


@singledispatch
def _explained(problem: ProblemProtocol, campaign: Campaign, gap: float | None) -> Explanation:
    raise BadInput(f"problem '{problem.name}': a {type(problem).__name__} cannot be explained")


@_explained.register
def _(problem: Problem, campaign: Campaign, gap: float | None) -> Explanation:
    """On a finite process: the pair, what the plan learns, every move, and the price of every limit."""
    (situation, generator, utility), settings = standpoint(campaign), campaign.settings.planner
    wanted = gap or settings.gap or GAP
    planner = planner_for(problem, settings)
    certifying = planner if settings.gap else certifying_planner(problem, settings)
    best = certifying.certified(utility, situation, generator, wanted)
    components = best.components if settings.gap else planner.plan(utility, situation, generator).components
    plan = mix(components)
    ahead = look_ahead(problem, best.gradient, situation, mix(best.components))
    ends = [state for state in (best.tangent.first, best.tangent.second) if state is not None]
    return Explanation(
        **_heading(campaign, situation),
        separates=tuple(problem.describe(state) for state in ends),
        utility_now=best.tangent.value,
        utility_after=utility.value(plan),
        best_known=best.certificate.upper,
        lower_bound=best.certificate.lower,
        components=len(components),
        choice=_choice(problem, settings, len(components), situation),
        moves=_moves(campaign, ahead, Policy(problem.process, plan)),
        values=_values(ahead),
        limits=_limits(ahead, plan, best.certificate.upper),
    )


def _choice(problem: Problem, settings: PlannerSettings, components: int, situation: Situation) -> str:
    """How the first move is chosen among good ones."""
    if settings.first_move == "eager" and components == 1:
        left, coupled = problem.horizon - situation.step, any(rule.couples_steps for rule in problem.rules)
        if not coupled and leads_everywhere(problem)[situation.state]:
            return "every place is one move away: the move to the largest upper confidence bound (mean + 2 sd) is made"
        share = f"at most 1/{left} of what" if left > 1 else "any of what"
        return f"of the moves that give up {share} the best plan (N = 1) learns, the one that learns most at once is made"
    if components == 1:
        return ""
    which = {"eager": "the one that learns most at once", "likeliest": "the likeliest", "drawn": "one drawn by chance"}
    return f"of the moves that the plan may make, {which[settings.first_move]} is made"


def certifying_planner(problem: Problem, settings: PlannerSettings) -> FinitePlanner:
    """A planner for bounds: where nothing couples the steps backward induction solves the same subproblems, and faster."""
    if any(rule.couples_steps for rule in problem.rules):
        return planner_for(problem, settings)
    exact = LinearSolverSettings(solver=DynamicProgramming.name)
    return planner_for(problem, settings.model_copy(update={"linear": exact}))


def standpoint(campaign: Campaign) -> tuple[Situation, np.random.Generator, Any]:
    """What the next plan starts from: situation, generator and utility, so that planning leaves the campaign as it is."""
    generator = copy.deepcopy(campaign.generator)
    return campaign.history.situation(), generator, copy.copy(campaign.knowledge).utility(generator)


def _heading(campaign: Campaign, situation: Situation) -> dict[str, Any]:
    return {
        "problem": campaign.problem.name,
        "episode": campaign.history.episode,
        "step": situation.step + 1,
        "here": campaign.problem.describe(situation.state),
    }


def _moves(campaign: Campaign, ahead: LookAhead, policy: Policy) -> tuple[MoveOption, ...]:
    """All moves of the present state, the cheapest first, forbidden ones last."""
    process, situation = ahead.problem.process, ahead.situation
    planned = dict(zip(*policy.action_probabilities(situation.step, situation.state), strict=True))
    asked = campaign.history.open_move
    columns = process.pairs_of(situation.state), ahead.move_costs(), ahead.values_ahead(), ahead.usable_now()
    options = []
    for pair, cost, value, allowed in zip(*columns, strict=True):
        row = process.transitions[[pair]]
        outcomes = row.indices[np.argsort(-row.data, kind="stable")]
        status = "planned" if planned.get(pair, 0.0) > 0.0 else "unused" if allowed else "forbidden"
        options.append(
            MoveOption(
                process.actions[process.pair_action[pair]],
                tuple(process.describe(int(state)) for state in outcomes),
                float(planned.get(pair, 0.0)),
                float(cost) if np.isfinite(cost) else None,
                float(value) if np.isfinite(value) else None,
                status,
                asked is not None and asked.decision == pair,
            )
        )
    return tuple(sorted(options, key=lambda o: (o.status == "forbidden", o.cost is None, o.cost or 0.0)))


def _values(ahead: LookAhead) -> tuple[tuple[Point, float], ...]:
    """States that an allowed move may lead to, the most valuable first."""
    process = ahead.problem.process
    pairs = np.array(process.pairs_of(ahead.situation.state))[ahead.usable_now()]
    states = np.unique(process.transitions[pairs].indices)
    ordered = states[np.argsort(ahead.values[1, states], kind="stable")]
    return tuple((process.describe(int(state)), float(ahead.values[1, state])) for state in ordered)


def _limits(ahead: LookAhead, plan: Visitation, upper: float) -> tuple[LimitPrice, ...]:
    """Rows of the polytope with their shadow prices, then the rules about single moves and states."""
    problem = ahead.problem
    found = [LimitPrice(row.name, row.limits, row.slack, row.shadow_price) for row in ahead.rows]
    for rule in problem.rules:
        if not rule.couples_steps and rule.name not in {limit.name for limit in found}:
            same = [other for other in problem.rules if other.name == rule.name]
            slack = _plan_slack(rule, problem.process, plan) if len(same) == 1 else None
            text = "; ".join(other.describe(problem.coordinates) for other in same)
            others = [other for other in problem.rules if other.name != rule.name]
            worth = min(ahead.worth_with(others), upper)
            found.append(LimitPrice(rule.name, text, slack, None, worth, _looser(ahead, rule, upper)))
    return tuple(found)


def _plan_slack(rule: TransitionConstraint, process: Process, plan: Visitation) -> float | None:
    """The smallest room of any move of a plan; None for rules that are kept or broken, with nothing in between."""
    moves = process.transitions[plan.pair]
    left = process.states[np.repeat(process.pair_state[plan.pair], np.diff(moves.indptr))]
    return _not_negative(rule.room(process.coordinates, left, process.states[moves.indices]))


def _looser(ahead: LookAhead, rule: TransitionConstraint, upper: float) -> tuple[tuple[str, float], ...]:
    """What one notch more of a rate limit buys, at most."""
    problem = ahead.problem
    others = [other for other in problem.rules if other is not rule]
    looser = rule.looser(problem.process)
    return tuple((text, min(ahead.worth_with([*others, changed]), upper)) for text, changed in looser)


def _not_negative(room: float | None) -> float | None:
    return None if room is None else max(0.0, room)


@_explained.register
def _(problem: ContinuousProblem, campaign: Campaign, gap: float | None) -> Explanation:
    """On a continuous plant: the pair, what the plan learns, and the room its path leaves."""
    situation, generator, utility = standpoint(campaign)
    planner = planner_for(problem, campaign.settings.planner)
    plan = planner.plan(utility, situation, generator)
    paths = [(weight, component.states[len(situation.path) :]) for weight, component in plan.components]
    heaviest = max(plan.components, key=lambda part: part[0])[1]
    points = problem.points(list(heaviest.states))
    path = executed_path(problem, points, True, [tuple(action) for action in heaviest.actions])
    rooms = [(rule, _not_negative(rule.slack(path))) for rule in problem.rules]
    return Explanation(
        **_heading(campaign, situation),
        separates=tuple(problem.describe(tuple(point)) for point in plan.tangent.separated),
        utility_now=plan.tangent.value,
        utility_after=utility.value(paths),
        best_known=None,
        lower_bound=None,
        components=len(plan.components),
        choice=CHOICES[utility.stage] if planner.is_eager else "",
        limits=tuple(LimitPrice(rule.name, rule.describe(problem.coordinates), room) for rule, room in rooms),
    )
