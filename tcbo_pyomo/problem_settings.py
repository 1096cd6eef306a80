"""What settings change about a problem: its start, its number of episodes, and further constraints by name."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.planning.budgets import Budget
from tcbo_pyomo.problem import Problem
from tcbo_pyomo.registry import load_class
from tcbo_pyomo.settings import ConstraintSettings, Settings


def with_settings(problem: Problem, settings: Settings) -> Problem:
    """The problem as the settings want it; the same object when they change nothing."""
    changes: dict[str, Any] = {}
    if settings.start is not None:
        changes["start"] = settings.start
    if settings.episodes is not None:
        changes["episodes"] = settings.episodes
    if settings.constraints:
        extra = [_tried(constraint_from(entry), problem) for entry in settings.constraints]
        changes["constraints"] = (*problem.constraints, *extra)
    return problem.changed(**changes) if changes else problem


def _tried(rule: TransitionConstraint, problem: Problem) -> TransitionConstraint:
    """The rule itself, if it can be evaluated with the arguments it was given."""
    if not isinstance(problem, Problem):
        return rule
    try:
        rule.allowed_transitions(problem.process)
        rule.allowed_states(problem.process, 0, problem.horizon)
        if isinstance(rule, Budget):
            rule.transition_cost(problem.process)
    except TcboError:
        raise
    except Exception as error:
        raise BadInput(f"constraint '{rule.name}' fails with the arguments given: {type(error).__name__}: {error}") from error
    return rule


def constraint_from(entry: ConstraintSettings) -> TransitionConstraint:
    """A constraint from its entry in the settings, such as `{use: maximum_step, limits: {ratio: 0.1}}`."""
    arguments = dict(entry.model_extra or {})
    constraint_class = load_class("tcbo_pyomo.models.constraints", "constraint", entry.use)
    # Before anything is called: a settings file may name constraints, not run any function there is.
    if not issubclass(constraint_class, TransitionConstraint):
        raise BadInput(f"constraint '{entry.use}' is not a subclass of TransitionConstraint")
    try:
        return constraint_class(**arguments)
    except TypeError as error:
        raise BadInput(f"constraint '{entry.use}': {error}; arguments given: {sorted(arguments)}") from None
