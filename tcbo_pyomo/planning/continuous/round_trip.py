"""There and back: a warm start for plants that must end somewhere and whose action is the move itself.

A path that hurries to a target and stays there misses the end of its episode, and the solver takes hundreds of iterations
to bend it back, or fails. So the way back is laid first: the way from the end to the target, reversed. Each way is the
straight one, or the shortest of the detours that nothing blocks. With too few moves left for the whole trip the plant turns
round earlier.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.shortest_path import detours, straight_path
from tcbo_pyomo.problem.continuous import ContinuousProblem

ARRIVED = 1e-9
TURNS = 12
"""How many places of turning round are tried."""


class RoundTrips:
    """Trips of one plant that end where its rules say; `needed` where they say so at all."""

    def __init__(self, problem: ContinuousProblem) -> None:
        self.problem, self.dynamics = problem, problem.dynamics
        self._ends = [rule for rule in problem.rules if rule.end_point]
        self.needed = bool(self._ends)

    def trip(self, here: Array, target: Array, steps: int) -> Array | None:
        """Scaled states (steps + 1 x d) to the target, or as near as time allows, and to the end; None if none is found."""
        out = self._way(here, target, steps)
        if out is None:
            return None
        turn = len(out) - 1
        for _ in range(TURNS):
            back = self._way(self._end_for(out[turn]), out[turn], steps)
            arrives = back is not None and _is_at(back[-1:], out[turn])[0]
            late = turn + len(back) - 1 - steps if back is not None and arrives else steps
            if back is not None and late <= 0:
                waiting = np.tile(out[turn], (-late, 1))
                return np.vstack([out[: turn + 1], waiting, back[-2::-1]])
            if turn == 0:
                return None
            # Each move not made saves two, unless another way back is shorter still.
            turn = max(0, turn - max(1, late // 2))
        return None

    def _way(self, start: Array, target: Array, steps: int) -> Array | None:
        """The shortest way that no rule forbids, up to its arrival; where there is no time to arrive, all of its moves."""
        straight = _until_arrival(straight_path(self.dynamics, start, target, steps)[0], target)
        if self._is_free(straight):
            return straight
        for way in detours(self.dynamics, start, target, steps):
            trimmed = _until_arrival(way, target)
            if self._is_free(trimmed):
                return trimmed
        return None

    def _is_free(self, states: Array) -> bool:
        path = EpisodePath(self.problem.coordinates, self.problem.points(states), False)
        return not any(rule.violations(path) for rule in self.problem.rules)

    def _end_for(self, point: Array) -> Array:
        """The point with the coordinates in which the end is laid down."""
        end = point.copy()
        for rule in self._ends:
            axes, values = scaled_end(self.problem.coordinates, rule)
            end[axes] = values
        return end


def scaled_end(coordinates: Sequence[Coordinate], rule: TransitionConstraint) -> tuple[list[int], list[float]]:
    """Positions of the coordinates in which a rule lays down the end, and their scaled values."""
    axes = [coordinate_index(coordinates, name) for name in rule.end_point]
    ends = zip((coordinates[axis] for axis in axes), rule.end_point.values(), strict=True)
    return axes, [(axis.value_of(value) - axis.lower) / axis.width - 0.5 for axis, value in ends]


def _until_arrival(states: Array, target: Array) -> Array:
    there = np.flatnonzero(_is_at(states, target))
    return states[: there[0] + 1] if len(there) else states


def _is_at(states: Array, point: Array) -> Mask:
    return np.abs(states - point).max(axis=1) <= ARRIVED
