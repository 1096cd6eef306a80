"""Crowds of alike places: counted by hand, on a grid there are none, and the plan goes where a crowd would have outvoted it."""

import numpy as np
import pytest

from tcbo_pyomo import (
    Constant,
    MaternFiveHalves,
    Problem,
    ReactionKinetics,
    SquaredExponential,
    Sum,
    grid_process,
    load_problem,
)
from tcbo_pyomo.library import problem_names
from tcbo_pyomo.surrogate.alike_places import ALIKE, MOST_PLACES, independent_shares


def test_a_crowd_counts_as_one():
    # Correlation 0.97 is at sqrt(-2 ln 0.97) = 0.2468 lengthscales.
    near = 0.3 * np.sqrt(-2.0 * np.log(ALIKE))
    line = np.array([[-0.5], [-0.5 + 0.99 * near], [-0.5 + 1.98 * near], [0.2], [0.2], [0.2 + 1.01 * near]])
    shares = independent_shares(SquaredExponential(2.0, 0.3), line)
    np.testing.assert_allclose(shares, [1 / 2, 1 / 3, 1 / 2, 1 / 2, 1 / 2, 1.0])


def test_what_knows_its_shape_or_has_no_distance_does_not_count():
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 2))
    alone = independent_shares(MaternFiveHalves(0.4, (0.2, 0.6)), points)
    with_others = Sum((ReactionKinetics(), MaternFiveHalves(0.4, (0.2, 0.6)), Constant(3.0, 5.0)))
    assert (alone < 1.0).any() and np.array_equal(independent_shares(with_others, points), alone)
    assert (independent_shares(ReactionKinetics(), points) == 1.0).all()
    assert (independent_shares(SquaredExponential(1.0, 5.0), np.zeros((MOST_PLACES + 1, 2))) == 1.0).all()


@pytest.mark.parametrize("name", problem_names())
def test_shipped_plants_have_no_crowds(name):
    problem = load_problem(name)
    if isinstance(problem, Problem):
        assert np.array_equal(problem.place_shares, problem.places.astype(float))


def test_states_that_share_their_inputs_are_one_place():
    axes = {"x": [0.0, 1.0, 2.0], "age": [0, 1, 2]}
    process = grid_process(axes, {"x": [-1, 0, 1], "age": [0, 1]}, 0.01)
    problem = Problem("aged", process, {"x": 0, "age": 0}, 2, 1, SquaredExponential(1.0, 0.3), inputs=["x"])
    assert problem.place_shares.sum() == problem.places.sum() == 3
