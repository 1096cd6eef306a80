"""The judge of executed paths of a continuous plant: its box and actions, what a rule forbids, and the rows of a rule.

The rows of the trajectory are evaluated at the states of the path, with the actions that led there. A row that speaks of
steps still to come, or of variables that nobody gives a value, is not decided and not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate, scaled
from tcbo_pyomo.models.components import PyomoModel, new_rows, row_limits
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import SAME_PLACE, EpisodePath, JudgedRow, allowance, point_text
from tcbo_pyomo.plant.dynamics import Dynamics, LinearDynamics

ACTION_TOLERANCE = 1e-5
"""By how much an action worked out from a path may pass its limit, as a share of the limit."""


class ContinuousJudge:
    """Judges paths of the episodes of a continuous plant.

    Parameters
    ----------
    coordinates, dynamics
        The plant.
    start
        The scaled point at which episodes start.
    horizon
        Moves of an episode.
    """

    def __init__(self, coordinates: Sequence[Coordinate], dynamics: Dynamics, start: Array, horizon: int) -> None:
        self.coordinates, self.dynamics, self.start, self.horizon = coordinates, dynamics, start, horizon
        self._rows: dict[int, tuple[TransitionConstraint, list[Any], list[Any]]] = {}

    @cached_property
    def _linear(self) -> LinearDynamics | None:
        """The dynamics, where the action of a move follows from where it began and ended."""
        dynamics = self.dynamics
        if not isinstance(dynamics, LinearDynamics):
            return None
        inputs = dynamics.input_matrix
        return dynamics if int(np.linalg.matrix_rank(inputs)) == inputs.shape[1] else None

    @property
    def judges_moves(self) -> bool:
        """Whether the action of a move can be worked out from where it began and ended."""
        return self._linear is not None

    def impossible_moves(self, path: EpisodePath) -> list[tuple[int, str, str]]:
        """Points outside the box; where the action follows from the two points, actions beyond their limits."""
        points = scaled(self.coordinates, path.points)
        found = [
            (int(step), f"{c.title} in [{c.lower:g}, {c.upper:g}]", f"{c.title} was {path.points[step + 1, axis]:g}")
            for axis, c in enumerate(self.coordinates)
            for step in np.flatnonzero(np.abs(points[1:, axis]) > 0.5 + SAME_PLACE)
        ]
        if self._linear is None:
            return found
        actions, missed = _actions_behind(self._linear, points)
        nearest = self._linear.actions.clip(actions)
        size = np.maximum(1.0, np.abs(nearest).max(axis=1, initial=0.0))
        beyond = np.abs(actions - nearest).max(axis=1, initial=0.0) > ACTION_TOLERANCE * size
        for step in np.flatnonzero(missed > ACTION_TOLERANCE):
            place = zip(self.coordinates, path.points[step + 1], strict=True)
            value = f"no action leads to {', '.join(f'{c.name}={v:g}' for c, v in place)}"
            found.append((int(step), "the dynamics", value))
        for step in np.flatnonzero(beyond & (missed <= ACTION_TOLERANCE)):
            limit, value = (self._in_words(row[step]) for row in (nearest, actions))
            found.append((int(step), f"the nearest actions allowed: {limit}", f"it took {value}"))
        return found

    def forbidden_moves(self, rule: TransitionConstraint, path: EpisodePath) -> list[tuple[int, str]]:
        """Moves to points that a rule does not allow."""
        allowed = rule.allowed_points(self.coordinates, path.right)
        wrong = [] if allowed is None else np.flatnonzero(~allowed).tolist()
        return [(step, f"the plant was at {point_text(path.points[step + 1])}") for step in wrong]

    def can_judge(self, rule: TransitionConstraint) -> bool:
        """Whether a rule forbids points, or has rows about states and actions."""
        return rule.allowed_points(self.coordinates, np.zeros((0, len(self.coordinates)))) is not None or bool(
            self._rows_of(rule)[0]
        )

    def can_end(self, path: EpisodePath) -> None:
        """None: that is for a plan to tell."""

    def rows(self, rule: TransitionConstraint, path: EpisodePath) -> list[JudgedRow]:
        """Each row of a rule whose variables all have values on the path."""
        from pyomo.environ import value

        rows, starts = self._rows_of(rule)
        self._set_values(path, starts)
        found = []
        for row, step in rows:
            at = value(row.body, exception=False)
            if at is None:
                continue
            lower, upper = row_limits(row)
            broken = at > upper + allowance(upper) or at < lower - allowance(lower)
            broken_at = min(step, path.moves - 1) if broken else None
            found.append(JudgedRow.of(row, at, min(upper - at, at - lower), broken_at))
        return found

    @cached_property
    def _model(self) -> PyomoModel:
        from tcbo_pyomo.models.trajectory import build_trajectory

        return build_trajectory(self.coordinates, self.dynamics, self.start, self.horizon)

    def _rows_of(self, rule: TransitionConstraint) -> tuple[list[Any], list[Any]]:
        """(row, last step it speaks of) of a rule, and the functions that give its own variables values."""
        from pyomo.core.expr import identify_variables

        if id(rule) not in self._rows:
            model, known = self._model, len(self._model.auxiliary_starts)
            rows = new_rows(model, rule.add_to_trajectory)
            starts = model.auxiliary_starts[known:]
            step_of = {id(v): max(point - 1, 0) for (point, _), v in model.state.items()}
            step_of |= {id(v): step for (step, _), v in model.action.items()}
            given = {id(v) for start in starts for v, _ in start(np.zeros((self.horizon + 1, len(self.coordinates))))}
            judged = []
            defining = {id(row) for row in model.defining_rows}
            for row in (row for row in rows if id(row) not in defining):
                variables = {id(v) for v in identify_variables(row.body, include_fixed=False)}
                if variables <= step_of.keys() | given:
                    judged.append((row, max((step_of.get(v, 0) for v in variables), default=0)))
            self._rows[id(rule)] = rule, judged, starts
        return self._rows[id(rule)][1:]

    def _set_values(self, path: EpisodePath, starts: Sequence[Any]) -> None:
        """Give the variables their values on the path; what lies ahead has none."""
        model, points = self._model, scaled(self.coordinates, path.points)[: self.horizon + 1]
        whole = len(points) == self.horizon + 1
        for start in starts:
            full = np.vstack([points, np.tile(points[-1], (self.horizon + 1 - len(points), 1))])
            for variable, number in list(start(full)):
                variable.set_value(number if whole else None, skip_validation=True)
        for variables, values in ((model.state, points), (model.action, self._actions(path, points))):
            flat = values.ravel().tolist()
            for variable, number in zip(variables.values(), flat + [None] * (len(variables) - len(flat)), strict=True):
                variable.set_value(number, skip_validation=True)

    def _actions(self, path: EpisodePath, points: Array) -> Array:
        """The actions behind the moves: worked out where that is possible, else those asked for."""
        if self._linear is not None:
            return _actions_behind(self._linear, points)[0]
        return np.array(list(path.decisions)[: len(points) - 1], dtype=float)

    def _in_words(self, values: Array) -> str:
        return ", ".join(f"{name} {v:.4g}" for name, v in zip(self.dynamics.actions.names or (), values, strict=True))


def _actions_behind(dynamics: LinearDynamics, points: Array) -> tuple[Array, Array]:
    """The action of each move between scaled points, and by how much it misses where the move arrived."""
    wanted = points[1:] - points[:-1] @ dynamics.state_matrix.T
    actions: Array = np.linalg.lstsq(dynamics.input_matrix, wanted.T, rcond=None)[0].T.astype(float)
    return actions, np.abs(actions @ dynamics.input_matrix.T - wanted).max(axis=1, initial=0.0)
