"""What settings change about a problem: its start, its number of episodes, and further constraints by name."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.errors import BadInput, TcboError, suggestion
from tcbo_pyomo.models.constraints import regions
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.planning.budgets import Budget
from tcbo_pyomo.problem import Problem
from tcbo_pyomo.registry import class_name_of, load_class, load_module, names_in
from tcbo_pyomo.settings import ConstraintSettings, Settings

REGIONS = (regions.Box, regions.Circle, regions.Points, regions.Polygon, regions.Wall)
NOT_BY_NAME = {"from_function", "transition_constraint"}
"""A wrapper and the base class: nothing a settings file can use."""


def constraint_names() -> list[str]:
    """Constraints that come with the package: the files whose class is a constraint."""
    package = "tcbo_pyomo.models.constraints"
    return [name for name in names_in(package) if name not in NOT_BY_NAME and _is_constraint(package, name)]


def _is_constraint(package: str, name: str) -> bool:
    found = getattr(load_module(package, "constraint", name), class_name_of(name), None)
    return isinstance(found, type) and issubclass(found, TransitionConstraint)


def with_settings(problem: Any, settings: Settings) -> Problem:
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
        why = f"{type(error).__name__}: {error}"
        raise BadInput(f"constraint '{rule.name}' fails with the arguments given: {why}") from error
    return rule


def constraint_from(entry: ConstraintSettings) -> TransitionConstraint:
    """A constraint from its entry in the settings, such as `{use: maximum_step, limits: {ratio: 0.1}}`.

    A region is given by its kind, `region: {circle: {center: {x: 1, y: 2}, radius: 0.5}}`; a cost as 'my_module:function'.
    """
    if ":" not in entry.use and entry.use not in constraint_names():
        known = suggestion(entry.use, constraint_names())
        raise BadInput(f"unknown constraint '{entry.use}'; {known}; or 'my_module:MyClass'")
    constraint_class = load_class("tcbo_pyomo.models.constraints", "constraint", entry.use)
    # Before anything is called: a settings file may name constraints, not run any function there is.
    if not (isinstance(constraint_class, type) and issubclass(constraint_class, TransitionConstraint)):
        raise BadInput(f"constraint '{entry.use}' is not a subclass of TransitionConstraint")
    given = dict(entry.model_extra or {})
    try:
        return constraint_class(**{name: _argument(name, value) for name, value in given.items()})
    except TcboError:
        raise
    except (TypeError, ValueError) as error:
        raise BadInput(f"constraint '{entry.use}': {error}; arguments given: {sorted(given)}") from None


def _argument(name: str, value: Any) -> Any:
    """Plain data of a settings file as what the constraint's constructor takes."""
    if name == "region" and isinstance(value, dict):
        kinds = {kind.__name__.lower(): kind for kind in REGIONS}
        if len(value) != 1 or next(iter(value)) not in kinds:
            raise BadInput(f"region {value!r}: give one kind with its fields; known: {', '.join(sorted(kinds))}")
        kind, fields = next(iter(value.items()))
        return kinds[kind](**fields)
    if name in ("cost", "region") and isinstance(value, str):
        return load_class("tcbo_pyomo.models.constraints", name, value)
    return value
