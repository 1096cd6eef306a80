"""The judge of executed paths of a continuous plant: its box, its dynamics and actions, what a rule forbids, and its rows.

The rows of the trajectory are evaluated at the states of the path, with the actions that led there. What steps to come still
decide is held against the best that they can do: the bounds of states and actions, by interval arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate, physical, scaled
from tcbo_pyomo.models.actions_behind import (
    MODEL_TOLERANCE,
    ActionsBehind,
    NextState,
    asked_actions,
    asked_misses,
    exact_actions,
    fitted_actions,
)
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import SAME_PLACE, EpisodePath, JudgedRow, point_text
from tcbo_pyomo.models.trajectory_rows import TrajectoryRows
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
    next_state
        Simulates one step: the scaled state after an action; None where the dynamics cannot be simulated.
    corrected
        Whether hidden states are corrected by what is measured of them. A move is then held to be the one asked for: where
        its end is partly measured and partly worked out, no action need lead there.
    broken_limit
        The limit of a user's model that a step breaks, from the scaled state where it began and the action; empty if none.
    """

    def __init__(
        self,
        coordinates: Sequence[Coordinate],
        dynamics: Dynamics,
        start: Array,
        horizon: int,
        next_state: NextState | None = None,
        corrected: bool = False,
        broken_limit: Callable[[Array, Array], str] | None = None,
    ) -> None:
        self.coordinates, self.dynamics, self.start, self.horizon = coordinates, dynamics, start, horizon
        self._next_state = dynamics.next_state if isinstance(dynamics, LinearDynamics) else next_state
        self.corrected, self._broken_limit = corrected, broken_limit
        self._rows: dict[int, tuple[TransitionConstraint, TrajectoryRows]] = {}
        self._last: tuple[EpisodePath, ActionsBehind] | None = None

    @cached_property
    def _linear(self) -> LinearDynamics | None:
        """The dynamics, where the action of a move follows from where it began and ended."""
        dynamics = self.dynamics
        if not isinstance(dynamics, LinearDynamics) or self.corrected:
            return None
        inputs = dynamics.input_matrix
        return dynamics if int(np.linalg.matrix_rank(inputs)) == inputs.shape[1] else None

    @property
    def judges_moves(self) -> bool:
        """Whether the action of a move can be worked out from where it began and ended, or sought by simulation."""
        return self._linear is not None or self._next_state is not None

    def impossible_moves(self, path: EpisodePath) -> list[tuple[int, str, str]]:
        """Points outside the box, and moves that no allowed action makes."""
        points = scaled(self.coordinates, path.points)
        found = [
            (int(step), f"{c.title} in [{c.lower:g}, {c.upper:g}]", f"{c.title} was {path.points[step + 1, axis]:g}")
            for axis, c in enumerate(self.coordinates)
            for step in np.flatnonzero(np.abs(points[1:, axis]) > 0.5 + SAME_PLACE)
        ]
        if self._linear is None:
            return found + self._unexplained(path)
        actions, missed = exact_actions(self._linear, points)
        nearest = self._linear.actions.clip(actions)
        size = np.maximum(1.0, np.abs(nearest).max(axis=1, initial=0.0))
        beyond = np.abs(actions - nearest).max(axis=1, initial=0.0) > ACTION_TOLERANCE * size
        for step in np.flatnonzero(missed > ACTION_TOLERANCE).tolist():
            found.append((step, "the dynamics", f"no action leads to {self._place(path, step)}"))
        for step in np.flatnonzero(beyond & (missed <= ACTION_TOLERANCE)).tolist():
            limit, value = (self._in_words(row[step]) for row in (nearest, actions))
            found.append((step, f"the nearest actions allowed: {limit}", f"it took {value}"))
        return found

    def _unexplained(self, path: EpisodePath) -> list[tuple[int, str, str]]:
        """Moves that the simulated dynamics make with no allowed action."""
        if self._next_state is None:
            return []
        actions, points = self._actions(path), scaled(self.coordinates, path.points)
        limit = f"the dynamics, to {MODEL_TOLERANCE:.0%} of each axis"
        found = []
        for step, action in enumerate(actions):
            if np.isnan(action).any():
                found.append((step, limit, f"no allowed action leads to {self._place(path, step)}"))
            elif self._broken_limit is not None and (name := self._broken_limit(points[step], action)):
                found.append((step, f"the model's own limit {name}", f"broken on the way to {self._place(path, step)}"))
        return found

    def misses(self, path: EpisodePath) -> list[tuple[int, str]]:
        """Moves that ended elsewhere than the action asked for leads to, by more than a hundredth of an axis."""
        if self._next_state is None:
            return []
        points, found = scaled(self.coordinates, path.points), []
        for step in np.flatnonzero(self._behind(path).asked_miss > MODEL_TOLERANCE).tolist():
            expected = self._next_state(points[step], np.asarray(path.decisions[step], dtype=float))
            there = point_text(physical(self.coordinates, expected[None])[0])
            found.append((step, f"arrived at {point_text(path.points[step + 1])}, the model predicts {there}"))
        return found

    def forbidden_moves(self, rule: TransitionConstraint, path: EpisodePath) -> list[tuple[int, str]]:
        """Moves to points that a rule does not allow."""
        allowed = rule.allowed_points(self.coordinates, path.right)
        wrong = [] if allowed is None else np.flatnonzero(~allowed).tolist()
        return [(step, f"the plant was at {point_text(path.points[step + 1])}") for step in wrong]

    def unjudged(self, rule: TransitionConstraint) -> list[str]:
        """Rows that no path decides; the rule itself where it forbids no points and has no rows."""
        rows = self._rows_of(rule)
        if rows.undecidable:
            return [f"{rule.name}: {name}" for name in rows.undecidable]
        says = rule.allowed_points(self.coordinates, np.zeros((0, len(self.coordinates)))) is not None
        return [] if says or rows.number else [rule.name]

    def can_end(self, path: EpisodePath) -> None:
        """None: that is for a plan to tell."""

    def rows(self, rule: TransitionConstraint, path: EpisodePath) -> list[JudgedRow]:
        """Each row of a rule at a path; those that steps to come decide as far as they are decided."""
        rows, points = self._rows_of(rule), scaled(self.coordinates, path.points)[: self.horizon + 1]
        return rows.judged(points, self._actions(path)[: self.horizon], path.complete)

    @cached_property
    def _model(self) -> PyomoModel:
        from tcbo_pyomo.models.trajectory import build_trajectory

        return build_trajectory(self.coordinates, self.dynamics, self.start, self.horizon)

    def _rows_of(self, rule: TransitionConstraint) -> TrajectoryRows:
        if id(rule) not in self._rows:
            self._rows[id(rule)] = rule, TrajectoryRows(self._model, rule.add_to_trajectory)
        return self._rows[id(rule)][1]

    def _actions(self, path: EpisodePath) -> Array:
        """The actions behind the moves (k x q): worked out, sought, or asked for; not a number where not known."""
        return self._behind(path).actions

    def _behind(self, path: EpisodePath) -> ActionsBehind:
        if self._last is None or self._last[0] is not path:
            self._last = path, self._found_behind(path, scaled(self.coordinates, path.points))
        return self._last[1]

    def _found_behind(self, path: EpisodePath, points: Array) -> ActionsBehind:
        limits, asked = self.dynamics.actions, list(path.decisions)[: path.moves]
        if self._next_state is None:
            return asked_actions(limits, path.moves, asked)
        misses = asked_misses(self._next_state, points, asked)
        if self._linear is not None:
            return ActionsBehind(exact_actions(self._linear, points)[0], misses)
        largest = np.inf if self.corrected else MODEL_TOLERANCE
        return fitted_actions(self._next_state, limits, points, asked, misses, largest)

    def _place(self, path: EpisodePath, step: int) -> str:
        return ", ".join(f"{c.name}={v:g}" for c, v in zip(self.coordinates, path.points[step + 1], strict=True))

    def _in_words(self, values: Array) -> str:
        return ", ".join(f"{name} {v:.4g}" for name, v in zip(self.dynamics.actions.names or (), values, strict=True))
