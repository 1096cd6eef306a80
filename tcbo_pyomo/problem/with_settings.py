"""What settings change about a problem: its start, its number of episodes, its goal, and further constraints by name."""

from __future__ import annotations

from typing import Any, TypeVar

from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.foundation.registry import Registry, load_user_object
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.regions.region_data import region_from
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import ConstraintSettings, Settings
from tcbo_pyomo.surrogate.named_goal import goal_from

AnyProblem = TypeVar("AnyProblem", bound=ProblemProtocol)

CONSTRAINTS: Registry[TransitionConstraint] = Registry(
    "tcbo_pyomo.models.constraints",
    "constraint",
    TransitionConstraint,
    hidden=frozenset({"from_function", "transition_constraint"}),
)
"""A wrapper and the base class are nothing that a settings file can use."""


def with_settings(problem: AnyProblem, settings: Settings) -> AnyProblem:
    """The problem as the settings want it; the same object when they change nothing."""
    given = {"start": settings.start, "episodes": settings.episodes}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if settings.constraints:
        extra = [_tried(constraint_from(entry), problem) for entry in settings.constraints]
        changes["constraints"] = (*problem.constraints, *extra)
    changed: AnyProblem = problem.changed(**changes) if changes else problem
    return _with_goal(changed, settings)


def _with_goal(problem: AnyProblem, settings: Settings) -> AnyProblem:
    """The problem with the goal that the settings name; the same object where that is its own."""
    if settings.goal is None:
        return problem
    goal = goal_from(settings.goal)
    return problem if goal == problem.goal else problem.with_goal(goal)


def _tried(rule: TransitionConstraint, problem: ProblemProtocol) -> TransitionConstraint:
    """The rule itself, if it can be evaluated with the arguments it was given."""
    try:
        problem.try_rule(rule)
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
    # Judged before anything is called: a settings file may name constraints, not run any function there is.
    constraint_class = CONSTRAINTS.load(entry.use)
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
        return region_from(value)
    if name in ("cost", "region") and isinstance(value, str):
        return load_user_object(name, value)
    return value
