"""Shortest paths: the warm starts of a plan (appendix "Practical Planning for Continuous MDPs").

The linearised utility has its modes around the pair z, z', so a good path reaches one of them quickly. Where
the action is the move itself and nothing is in the way, that is the straight path, cut to the largest move.
In general

    minimise  sum_h |x_h - z|^2   over the same compiled constraints.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.dynamics import Dynamics
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of

DETOURS = 64
"""How many ways round obstacles are tried when the straight path is blocked."""


def straight_path(dynamics: Dynamics, start: Array, target: Array, steps: int) -> tuple[Array, Array]:
    """The straight path to a target, the action being the move, cut to the limits: states and actions.

    With limits per action every coordinate goes as fast as it may; with a limit on the length the path is a
    straight line.
    """
    states, actions = [np.asarray(start, dtype=float)], []
    for _ in range(steps):
        actions.append(dynamics.actions.clip(target - states[-1]))
        states.append(states[-1] + actions[-1])
    return np.array(states), np.array(actions).reshape(steps, len(start))


def detours(dynamics: Dynamics, start: Array, target: Array, steps: int) -> Array:
    """Paths to a target by way of points spread over the box, for plants whose action is the move itself.

    An obstacle between start and target is a local optimum of the distance; a path that goes round it is not.
    The paths (DETOURS x steps + 1 x d) are sorted by their sum of squared distances to the target.
    """
    from scipy.stats import qmc  # Slow to load, and a straight path needs none.

    stops = qmc.Halton(len(start), scramble=False).random(DETOURS + 1)[1:] - 0.5
    states = [np.tile(start, (DETOURS, 1))]
    passed = np.zeros((DETOURS, 1), dtype=bool)
    for _ in range(steps):
        aim = np.where(passed, target, stops)
        states.append(states[-1] + dynamics.actions.clip(aim - states[-1]))
        passed |= np.isclose(states[-1], stops, atol=1e-9).all(axis=1, keepdims=True)
    paths = np.array(states).transpose(1, 0, 2)
    return paths[np.argsort(((paths - target) ** 2).sum(axis=(1, 2)), kind="stable")]


def coasting_path(dynamics: Dynamics, start: Array, steps: int, action: Array | None = None) -> tuple[Array, Array]:
    """A first guess: what the plant does, within its bounds, when an action is held.

    The action is the last one made, or the allowed one nearest to zero.
    """
    lower, _ = dynamics.actions.bounds()
    held = dynamics.actions.clip(np.zeros(len(lower)) if action is None else action)
    states, simulator = [np.asarray(start, dtype=float)], simulator_of(dynamics)
    for _ in range(steps):
        try:
            following = simulator.next_state(states[-1], held)
        except SolverFailed:
            following = states[-1]
        states.append(np.clip(following, -0.5, 0.5))
    return np.array(states), np.tile(held, (steps, 1))
