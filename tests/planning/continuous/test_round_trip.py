"""There and back: trips that arrive, end where they must, keep every rule, and turn round in time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcbo_pyomo import load_problem
from tcbo_pyomo.foundation.coordinates import Coordinate, physical
from tcbo_pyomo.models.constraints import Circle, EndAt, ForbiddenRegion
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.round_trip import RoundTrips
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

AXES = (Coordinate("x", 0.0, 1.0), Coordinate("y", 0.0, 1.0))
FREE = LinearDynamics.free_moves(2, BoxActions(0.1))


def trips(*rules):
    given = "plant", AXES, FREE, {"x": 0, "y": 0}, 20, 1, SquaredExponential(1.0, 0.3), 0.1, rules
    return RoundTrips(ContinuousProblem(*given, output="measured"))


def test_straight_there_a_stay_and_straight_back():
    """By hand: five moves of 0.1 to (0.5, 0.2), five back, ten to stay."""
    found = trips(EndAt({"x": 0.0, "y": 0.0})).trip(np.array([-0.5, -0.5]), np.array([0.0, -0.3]), 20)
    there = [0.1, 0.2, 0.3, 0.4, 0.5]
    np.testing.assert_allclose(found[:, 0] + 0.5, [0, *there, *[0.5] * 10, *there[-2::-1], 0], atol=1e-12)
    np.testing.assert_allclose(found[:, 1] + 0.5, [0, 0.1, *[0.2] * 18, 0][:4] + [0.2] * 15 + [0.1, 0.0], atol=0.1001)
    assert np.abs(np.diff(found, axis=0)).max() <= 0.1 + 1e-12


def test_it_turns_round_when_there_is_no_time_to_arrive():
    """Ten moves: five away, five back; the target is eight away."""
    found = trips(EndAt({"x": 0.0, "y": 0.0})).trip(np.array([-0.5, -0.5]), np.array([0.3, -0.5]), 10)
    assert found.shape == (11, 2) and found[:, 0].max() == pytest.approx(0.0)
    np.testing.assert_allclose(found[-1], [-0.5, -0.5], atol=1e-12)


def test_an_end_named_in_one_coordinate_leaves_the_other_free():
    found = trips(EndAt({"x": 0.0})).trip(np.array([-0.5, -0.5]), np.array([0.0, 0.1]), 14)
    assert found[-1].tolist() == pytest.approx([-0.5, 0.1])
    assert (np.abs(found - [0.0, 0.1]).max(axis=1) < 1e-9).any()


def test_no_trip_where_the_end_cannot_be_reached_any_more():
    assert trips(EndAt({"x": 1.0, "y": 0.0})).trip(np.array([-0.5, -0.5]), np.array([0.0, 0.0]), 5) is None
    walled_in = ForbiddenRegion(Circle({"x": 0.9, "y": 0.9}, 0.2))
    assert trips(walled_in, EndAt({"x": 0.9, "y": 0.9})).trip(np.array([-0.5, -0.5]), np.array([0.0, 0.0]), 60) is None


def test_trips_are_only_needed_where_an_end_is_laid_down():
    assert trips(EndAt({"x": 0.0})).needed and not trips(ForbiddenRegion(Circle({"x": 0.5, "y": 0.5}, 0.1))).needed


@given(seed=st.integers(0, 10_000), steps=st.integers(20, 100))
@settings(max_examples=30, deadline=None)
def test_every_trip_among_the_pillars_keeps_every_rule(seed, steps):
    problem = load_problem("hartmann3d_obstacles")
    rng = np.random.default_rng(seed)
    here, target = (point for point in rng.random((400, 3)) - 0.5 if problem.allowed(point[None])[0]), None
    start, target = next(here), next(here)
    start = np.array(problem.start_state) if seed % 2 else start
    found = RoundTrips(problem).trip(start, target, steps)
    if found is None:
        return
    assert found.shape == (steps + 1, 3) and np.abs(np.diff(found, axis=0)).max() <= 0.1 + 1e-9
    np.testing.assert_array_equal(found[0], start)
    points = physical(problem.coordinates, found)
    assert not [v for rule in problem.rules for v in rule.violations(EpisodePath(problem.coordinates, points, True))]


def test_from_the_start_most_targets_among_the_pillars_are_visited():
    problem = load_problem("hartmann3d_obstacles")
    plant = RoundTrips(problem)
    targets = np.random.default_rng(3).random((40, 3)) - 0.5
    targets = targets[problem.allowed(targets)]
    found = [plant.trip(np.array(problem.start_state), target, 100) for target in targets]
    met = [
        trip is not None and (np.abs(trip - t).max(axis=1) < 1e-9).any() for trip, t in zip(found, targets, strict=True)
    ]
    assert np.mean(met) > 0.9
