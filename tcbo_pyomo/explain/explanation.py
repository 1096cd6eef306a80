"""Explain the next move of a campaign; the campaign itself is not changed."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.assembly import planner_for
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.executed_path import executed_path
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.explain.advice import advice
from tcbo_pyomo.explain.limit_prices import PriceList
from tcbo_pyomo.explain.move_facts import Explanation, LimitPrice
from tcbo_pyomo.explain.move_options import MoveComparison
from tcbo_pyomo.explain.outstanding import about, as_planned
from tcbo_pyomo.explain.shadow_prices import look_ahead
from tcbo_pyomo.explain.variance_scale import continuous_scale, finite_scale, one_pair_only
from tcbo_pyomo.foundation.deadline import Deadline
from tcbo_pyomo.foundation.wording import spaced
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.models.visitation import mix
from tcbo_pyomo.planning.continuous.eager_move import choice_in_words
from tcbo_pyomo.planning.finite.certified_frank_wolfe import CertifiedMixture
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.eager_move import WIDTH, leads_everywhere
from tcbo_pyomo.planning.finite.expected_regret import ExpectedRegret
from tcbo_pyomo.planning.finite.planner import FinitePlanner
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import LinearSolverSettings, PlannerSettings

PLANNED_BY = "mdp_bo"
"""The method whose plans are explained; its rivals do not minimise the utility."""
GAP = 0.01
"""Relative optimality gap where the settings name none."""
SECONDS = 60.0
"""Time limit for bounds and prices, in seconds."""


def explain(campaign: Campaign, gap: float | None = None, seconds: float = SECONDS) -> Explanation:
    """Why the next move is what it is: plan it once more, and look at the duals.

    Parameters
    ----------
    campaign
        Any campaign. Of an outstanding schedule its plan is explained, of a finished campaign the first move of a further
        episode; `about` says so.
    gap
        How closely the optimum is enclosed on a finite process; that of the settings, or 1 %, when not given.
    seconds
        Time limit of the search for bounds and prices on a finite process; `gap_missed` says where it was too short.
    """
    planned, deadline = as_planned(campaign), Deadline(seconds)
    acting = planned.method.acting(planned.knowledge)
    if acting is None:
        found = _explained(campaign.problem, planned, gap, deadline)
        return replace(found, about=about(campaign))
    # A method that chooses among others: what is explained is the plan of the one that acts.
    settings, why = acting
    member = copy.copy(planned)
    member.settings, member.knowledge = settings, planned.knowledge.under(settings)
    found = _explained(campaign.problem, member, gap, deadline)
    other = "" if settings.method == PLANNED_BY else f"; it plans differently from {PLANNED_BY}, whose plan is explained here"
    choice = f"the move is chosen by {why}{other}" + (f"; {found.choice}" if found.choice else "")
    return replace(found, about=about(campaign), choice=choice)


@singledispatch
def _explained(problem: ProblemProtocol, campaign: Campaign, gap: float | None, deadline: Deadline) -> Explanation:
    raise BadInput(f"problem '{problem.name}': a {type(problem).__name__} cannot be explained")


@_explained.register
def _(problem: Problem, campaign: Campaign, gap: float | None, deadline: Deadline) -> Explanation:
    """On a finite process: the pair, what the plan and others leave, every allowed move, and the price of every limit."""
    (situation, generator, utility), settings = standpoint(campaign), campaign.settings.planner
    wanted, planner = gap or settings.gap or GAP, planner_for(problem, settings)
    plan = planner.plan(utility, situation, generator)
    scale = finite_scale(utility, plan.tangent, settings, generator)
    certifying = certifying_planner(problem, settings)
    best = certifying.certified(scale, situation, generator, wanted, deadline)
    policy = mix(best.components)
    ahead = look_ahead(problem, best.gradient, situation, policy)
    comparison = MoveComparison(campaign, situation, certifying, plan, best, ahead, scale)
    exact = one_pair_only(settings)
    table = comparison.exact() if exact else comparison.bounded()

    def solved(other: Problem) -> float | None:
        if deadline.passed:
            return None
        again = certifying_planner(other, settings).certified(scale, situation, generator, wanted, deadline)
        return None if again.stopped and deadline.passed else again.certificate.upper

    best_path, begins = table.best_path or (None, None)
    # A path is a policy, too.
    upper = best.certificate.upper if best_path is None else min(best.certificate.upper, best_path)
    drawn = sum(weight * scale.value(visits) for weight, visits in best.components)
    regret = (utility.value(), utility.value(table.made)) if isinstance(utility, ExpectedRegret) else None
    found = Explanation(
        **_heading(campaign, situation),
        separates=tuple(problem.describe_inputs(s) for s in (plan.tangent.first, plan.tangent.second) if s is not None),
        scale="pair" if exact or regret else "all pairs",
        utility_now=best.tangent.value,
        utility_after=scale.value(table.made),
        best_path=best_path,
        best_path_begins=begins,
        best_known=upper,
        lower_bound=best.certificate.lower,
        drawn=drawn if all(visits.is_path for _, visits in best.components) else None,
        all_pairs_after=scale.value(table.made) if regret else utility.value(table.made),
        regret=regret,
        components=len(plan.components),
        choice=_choice(problem, settings, len(plan.components), situation, regret is not None),
        moves=table.options,
        more_moves=table.more,
        limits=PriceList(ahead, policy, upper, wanted * upper, solved).limits(),
        gap_missed=gap_missed(best, wanted),
    )
    return replace(found, advice=advice(found, problem))


def _choice(
    problem: Problem, settings: PlannerSettings, components: int, situation: Situation, lowers_regret: bool
) -> str:
    """How the first move is chosen among good ones."""
    if settings.finite_first_move == "eager" and components == 1:
        left, coupled = problem.horizon - situation.step, any(rule.couples_steps for rule in problem.rules)
        if not coupled and leads_everywhere(problem)[situation.state]:
            if lowers_regret:
                return (
                    "every place is one move away: the move that lowers the expected regret most is taken, by one measurement "
                    "or, per move, by going there and staying"
                )
            bound = problem.goal.bound_words(WIDTH, problem.output_unit)
            return f"every place is one move away: the move goes to the {bound}"
        share = f"at most 1/{left}" if left > 1 else "any part"
        return (
            f"among the moves that give up {share} of what the best plan (N = 1) learns, the most informative is taken"
        )
    if components == 1:
        return ""
    which = {"eager": "the most informative", "likeliest": "the most probable", "drawn": "one drawn at random"}
    return f"among the first moves of the plan, {which[settings.finite_first_move]} is taken"


def gap_missed(best: CertifiedMixture, wanted: float) -> str:
    """That a gap was not reached, which one was, and why, in words; empty where it was reached."""
    if not best.stopped:
        return ""
    return f"the optimality gap of {wanted:g} was not reached: it is {best.certificate.gap:.2g}, because {best.stopped}"


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
        "unit": campaign.problem.output_unit,
    }


@_explained.register
def _(problem: ContinuousProblem, campaign: Campaign, gap: float | None, deadline: Deadline) -> Explanation:
    """On a continuous plant: the pair, what the plan leaves, and the room its path has."""
    (situation, generator, utility), settings = standpoint(campaign), campaign.settings.planner
    planner = planner_for(problem, settings)
    plan = planner.plan(utility, situation, generator)
    scale = continuous_scale(utility, plan.tangent.separated, settings)
    ahead = [(weight, component.states[len(situation.path) :]) for weight, component in plan.components]
    paths = [(weight, planner.oracle.measured_points(part, situation.step)) for weight, part in plan.components]
    single = [(scale.value([(1.0, path)]), states) for (_, path), (_, states) in zip(paths, ahead, strict=True)]
    leaves, best = min(single, key=lambda part: part[0])
    heaviest = max(plan.components, key=lambda part: part[0])[1]
    points = problem.points(list(heaviest.states))
    path = executed_path(problem, points, True, [tuple(action) for action in heaviest.actions])
    found = Explanation(
        **_heading(campaign, situation),
        separates=tuple(problem.describe_inputs(point) for point in plan.tangent.separated),
        scale="pair" if one_pair_only(settings) else "all pairs",
        utility_now=plan.tangent.value,
        utility_after=scale.value(paths),
        best_path=leaves,
        best_path_begins=problem.describe(tuple(best[0])),
        best_known=None,
        lower_bound=None,
        drawn=None,
        all_pairs_after=utility.value(paths),
        components=len(plan.components),
        choice=choice_in_words(utility, problem.goal, problem.output_unit) if planner.is_eager else "",
        limits=tuple(_room(rule, path) for rule in problem.rules),
    )
    return replace(found, advice=advice(found, problem))


def _room(rule: TransitionConstraint, path: EpisodePath) -> LimitPrice:
    """What a planned path leaves of a rule; the limits of its rows where the rule has no words of its own."""
    words, slack = rule.describe(path.coordinates), rule.slack(path)
    rows = {row.component: f"{spaced(row.component)}: {row.limits}" for row in rule.rows(path) if row.room is not None}
    if words == rule.name and rows:
        words = "; ".join(rows.values())
    return LimitPrice(rule.name, words, None if slack is None else max(0.0, slack))
