"""What a continuous plant can do in one move: the actions that may be taken now, and where they lead (section 4.2)."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.solvers.nonlinear.step_simulator import next_states

NARROWEST = 1e-12
"""Width left to an action that a bound of the box allows nothing."""
ROUNDING = 1e-12
TRIES = 100
"""Draws before the actions that obey every rule are taken to be too few to be hit."""


class Reach:
    """The actions of one situation.

    Attributes
    ----------
    lower, upper
        Bounds of the actions (q); where the action is the move itself, those of the box are included.
    """

    def __init__(self, problem: ContinuousProblem, situation: Situation) -> None:
        self.problem, self.dynamics = problem, problem.dynamics
        self.state = np.asarray(situation.state, dtype=float)
        self.lower, self.upper = self.dynamics.actions.bounds()
        if self.dynamics.is_free_move:
            self.lower = np.maximum(self.lower, -0.5 - self.state)
            self.upper = np.maximum(np.minimum(self.upper, 0.5 - self.state), self.lower + NARROWEST)
        self._path = EpisodePath(problem.coordinates, physical(problem.coordinates, np.array(situation.path)), False)
        self._last = situation.step + 1 == problem.horizon

    def arrivals(self, actions: Array) -> Array:
        """Where n actions (n x q) lead, n x d; NaN where there is no solution, or a limit of a user's model is broken."""
        if isinstance(self.dynamics, LinearDynamics):
            return self.dynamics.state_matrix @ self.state + actions @ self.dynamics.input_matrix.T
        return next_states(self.dynamics, np.tile(self.state, (len(actions), 1)), actions, True)

    def inputs(self, actions: Array) -> Array:
        """What the black box sees of where n actions lead, n x p."""
        return self.problem.observed(self.arrivals(actions))

    def allowed(self, actions: Array) -> Mask:
        """Which of n actions keep their limits, stay in the box and, as one more move of the path, obey every rule."""
        arrived = self.arrivals(actions)
        near = np.abs(self.dynamics.actions.clip(actions) - actions).max(axis=1) <= ROUNDING
        ok = near & (np.abs(arrived).max(axis=1) <= 0.5 + ROUNDING)
        points = physical(self.problem.coordinates, arrived)
        for rule in self.problem.rules:
            if not ok.any():
                break
            ok[ok] = rule.allows_next(self._path, points[ok], self._last)
        return ok

    def draw(self, count: int, generator: np.random.Generator) -> Array:
        """`count` random actions, uniform among those allowed; unchecked ones where these are too rare to find."""
        found = np.empty((0, len(self.lower)))
        for _ in range(TRIES):
            actions = generator.uniform(self.lower, self.upper, (count, len(self.lower)))
            found = np.vstack([found, actions[self.allowed(actions)]])
            if len(found) >= count:
                return found[:count]
        return np.vstack([found, self.dynamics.actions.clip(actions)])[:count]
