"""The rules of a continuous plant one by one: is the start allowed, can the rule be kept, does it bind?"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.checks.finding import Finding
from tcbo_pyomo.errors import TcboError
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.reachable_set import reachable_set
from tcbo_pyomo.problem.continuous import ContinuousProblem

EPISODES = 60
"""Episodes without a rule that are held against it."""


def check_rules(problem: ContinuousProblem) -> list[Finding]:
    """One finding for each rule."""
    return [_rule(problem, rule) for rule in problem.rules]


def _rule(problem: ContinuousProblem, rule: TransitionConstraint) -> Finding:
    name, limit = rule.name, rule.describe(problem.coordinates)
    words = "" if limit == name else f"{limit}: "
    start = _forbids_start(problem, rule)
    if start:
        return Finding("error", name, f"{words}the start is not allowed, {start}; start elsewhere")
    try:
        _ = reachable_set(problem.changed(constraints=(rule,))).cloud
    except TcboError as error:
        return Finding("error", name, f"{words}no episode satisfies it, even without the other rules: {error}")
    others = [other for other in problem.rules if other is not rule]
    try:
        broken, number = _broken_without(problem.changed(constraints=others), rule)
    except TcboError as error:
        return Finding("error", name, f"{words}no episode satisfies the other rules: {error}")
    if broken == 0:
        unbound = f"{words}it does not bind: all {number} episodes without it satisfy it; check its limit and its units"
        return Finding("warning", name, unbound)
    return Finding("ok", name, f"{words}it binds: {broken} of {number} episodes without it break it")


def _forbids_start(problem: ContinuousProblem, rule: TransitionConstraint) -> str:
    """What a rule has against a plant that stays where it starts, in words; empty where it allows that."""
    start = problem.points([problem.start_state])
    allowed = rule.allowed_points(problem.coordinates, start)
    if allowed is not None and not allowed.all():
        return f"the rule forbids {problem.place_words(problem.start_state)}"
    before = EpisodePath(problem.coordinates, start, False, (), problem.judge)
    broken_rows = (row.message for row in rule.rows(before) if row.broken_at is not None)
    if message := next(broken_rows, ""):
        return message
    if rule.couples_steps or rule.end_point:
        return ""
    standing = EpisodePath(problem.coordinates, np.vstack([start, start]), False)
    return next((broken.message for broken in rule.violations(standing)), "")


def _broken_without(problem: ContinuousProblem, rule: TransitionConstraint) -> tuple[int, int]:
    """How many episodes of a plant without a rule break it, and of how many."""
    cloud = reachable_set(problem).cloud
    chosen = np.unique(np.linspace(0, len(cloud.states) - 1, EPISODES).round().astype(int))
    broken = sum(_breaks(problem, rule, cloud.states[i], cloud.actions[i]) for i in chosen)
    return broken, len(chosen)


def _breaks(problem: ContinuousProblem, rule: TransitionConstraint, states: Array, actions: Array) -> bool:
    decisions = [tuple(action) for action in actions.tolist()]
    path = EpisodePath(problem.coordinates, problem.points(states), True, decisions, problem.judge)
    return bool(rule.violations(path))
