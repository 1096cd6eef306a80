"""Rules of a continuous plant as plain data and back, and the judge that holds paths against them without any code of users."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate, scaled
from tcbo_pyomo.models.actions_behind import NextState
from tcbo_pyomo.models.components import PyomoModel, new_rows, row_limits
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.continuous_judge import ContinuousJudge
from tcbo_pyomo.models.declared_rule import (
    DeclaredRule,
    declared_words,
    library_data,
    library_rule,
    limit_data,
    limits_of,
)
from tcbo_pyomo.models.episode_path import EpisodePath, JudgedRow, allowance
from tcbo_pyomo.models.expression_data import NotData, Tree, evaluated, expression_data


def continuous_rule_data(
    rule: TransitionConstraint, model: Callable[[], PyomoModel], coordinates: Sequence[Coordinate]
) -> dict[str, Any]:
    """A rule with its rows as arithmetic on states and actions.

    Parameters
    ----------
    rule
        The rule.
    model
        Builds the trajectory without rules.
    coordinates
        The axes.
    """
    data = declared_words(rule, coordinates)
    known = library_data(rule, coordinates)
    if known is not None:
        return data | known
    return data | {
        "short_name": rule.short_name,
        "couples": bool(rule.couples_steps),
        "points": rule.allowed_points(coordinates, np.zeros((0, len(coordinates)))) is not None,
        "rows": _rows_of(rule, model()),
    }


def leaves_of(model: PyomoModel) -> dict[int, list[Any]]:
    """What the variables of a trajectory are called where its rows are kept as arithmetic: point or step, and axis."""
    states, actions = (
        {name: axis for axis, name in enumerate(names)} for names in (list(model.COORDINATES), list(model.ACTIONS))
    )
    named = {id(v): ["state", int(point), states[name]] for (point, name), v in model.state.items()}
    return named | {id(v): ["action", int(step), actions[name]] for (step, name), v in model.action.items()}


def dynamics_arithmetic(model: PyomoModel) -> list[dict[str, Any]] | None:
    """The first step of the dynamics, one equation per axis; None where it has variables of its own."""
    leaves, rows = leaves_of(model), [model.dynamics[0, name] for name in model.COORDINATES]
    try:
        return [{"body": expression_data(row.body, leaves), "equals": float(row.ub)} for row in rows]
    except NotData:
        return None


def stored_step(equations: Sequence[Mapping[str, Any]]) -> NextState:
    """One step of dynamics by their equations, each linear in the coordinate that it is about."""

    def next_state(state: Array, action: Array) -> Array:
        def value(equation: Mapping[str, Any], after: float) -> float:
            values = {"state": (state, np.full(len(state), after)), "action": (action,)}
            return float(evaluated(equation["body"], lambda kind, step, axis: values[kind][step][axis]))

        found = []
        for equation in equations:
            at_zero = value(equation, 0.0)
            found.append((equation["equals"] - at_zero) / (value(equation, 1.0) - at_zero))
        return np.array(found)

    return next_state


def _rows_of(rule: TransitionConstraint, model: PyomoModel) -> list[dict[str, Any]]:
    """The rows of a rule; none of them where it has variables of its own, whose values only its code can give."""
    leaves, found = leaves_of(model), []
    for row in new_rows(model, rule.add_to_trajectory):
        try:
            body = expression_data(row.body, leaves)
        except NotData:
            return []
        found.append(
            {"name": row.name, "component": row.parent_component().local_name, **limit_data(*row_limits(row))}
            | {"step": max(_steps(body), default=0), "body": body}
        )
    return found


def _steps(tree: Tree) -> Iterator[int]:
    """The steps whose end decides a row."""
    if isinstance(tree, list):
        if tree[0] in ("state", "action"):
            yield max(tree[1] - 1, 0) if tree[0] == "state" else tree[1]
        for argument in tree[1:]:
            yield from _steps(argument)


def continuous_rule(data: Mapping[str, Any]) -> TransitionConstraint:
    """The rule that `continuous_rule_data` described."""
    return library_rule(data) if "use" in data else DeclaredRule(data)


class DeclaredContinuousJudge(ContinuousJudge):
    """Judges paths by the rows in a campaign file, without Pyomo."""

    def unjudged(self, rule: TransitionConstraint) -> list[str]:
        """The rule itself where it has no rows here; rules of the library judge by their own arithmetic."""
        return [] if not isinstance(rule, DeclaredRule) or rule.judged else [rule.name]

    def forbidden_moves(self, rule: TransitionConstraint, path: EpisodePath) -> list[tuple[int, str]]:
        """None that the data say: which points a user's rule allows is known to its code only."""
        return [] if isinstance(rule, DeclaredRule) else super().forbidden_moves(rule, path)

    def rows(self, rule: TransitionConstraint, path: EpisodePath) -> list[JudgedRow]:
        """Each row of a rule whose states and actions all are on the path; when it has ended, also those that stay open."""
        stored = rule.data["rows"] if isinstance(rule, DeclaredRule) else []
        points = scaled(self.coordinates, path.points)[: self.horizon + 1]
        values = {"state": points, "action": self._actions(path)[: self.horizon]}
        found = []
        for row in stored:
            lower, upper = limits_of(row)
            try:
                at = float(evaluated(row["body"], lambda kind, step, axis: values[kind][step][axis]))
            except IndexError:
                continue  # It speaks of steps to come.
            if math.isnan(at):  # An action that it speaks of is not known.
                found.append(JudgedRow(row["name"], row["component"], at, lower, upper, None, None, is_open=True))
                continue
            broken = at > upper + allowance(upper) or at < lower - allowance(lower)
            broken_at, room = min(row["step"], path.moves - 1) if broken else None, min(upper - at, at - lower)
            found.append(JudgedRow(row["name"], row["component"], at, lower, upper, room, broken_at))
        return found
