"""The roadmap of free moves: ways round walls that keep the limits of the moves, against paths made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.constraints.non_decreasing import NonDecreasing
from tcbo_pyomo.models.regions.regions import Wall
from tcbo_pyomo.planning.continuous.simulated_episodes import Episodes
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

WALL = ForbiddenRegion(Wall(("x", "y"), (0.0, -0.5), (0.0, 0.3)))


def plane(horizon, limits, *rules):
    return ContinuousProblem(
        name="plane",
        coordinates=(Coordinate("x", -0.5, 0.5), Coordinate("y", -0.5, 0.5)),
        dynamics=LinearDynamics.free_moves(2, limits),
        start={"x": -0.3, "y": -0.3},
        horizon=horizon,
        episodes=1,
        kernel=SquaredExponential(1.0, 0.3),
        noise=0.01,
        output="value",
        constraints=rules,
    )


def assert_allowed(problem, states):
    moves = np.diff(states, axis=0)
    assert len(moves) == problem.horizon and np.abs(problem.dynamics.actions.clip(moves) - moves).max() <= 1e-9
    assert Episodes(problem).feasible(states[None], moves[None])[0]


@pytest.mark.parametrize("limits", [BoxActions(0.1), NormActions(0.1)])
def test_a_way_round_a_wall_and_back(limits):
    target = np.array([0.3, -0.3])
    problem = plane(40, limits, WALL, EndAt({"x": -0.3, "y": -0.3}))
    way = Episodes(problem).way(target)
    assert_allowed(problem, way.states)
    assert np.abs(way.state - target).max() <= 1e-9
    # Over the top of the wall: at least the two straight lines to its head.
    shortest = 2 * np.hypot(0.3, 0.6) if isinstance(limits, NormActions) else 2 * 0.6
    assert shortest / 0.1 <= way.step <= 1.5 * shortest / 0.1
    assert Episodes(plane(int(2 * shortest / 0.1) - 1, limits, WALL, EndAt({"x": -0.3, "y": -0.3}))).way(target) is None


def test_a_straight_way_is_as_short_as_the_limits_allow():
    way = Episodes(plane(10, BoxActions(0.1))).way(np.array([0.3, 0.05]))
    assert way.step == 6 and np.allclose(np.diff(way.states[:7], axis=0), [0.1, 0.35 / 6])


def test_directions_are_kept():
    problem = plane(30, BoxActions(0.1), NonDecreasing("x"))
    episodes = Episodes(problem)
    assert episodes.way(np.array([-0.4, 0.0])) is None
    assert_allowed(problem, episodes.way(np.array([0.4, -0.45])).states)


def test_the_map_says_how_much_it_covers():
    assert Episodes(plane(40, BoxActions(0.1), WALL)).roadmap.coverage == 1.0
    closed = ForbiddenRegion(Wall(("x", "y"), (0.0, -0.5), (0.0, 0.5)))
    assert 0.4 < Episodes(plane(40, BoxActions(0.1), closed)).roadmap.coverage < 0.6
