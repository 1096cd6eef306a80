"""Truncated SnAKe: deletion, tour and clipped moves, each on cases worked by hand."""

import itertools

import numpy as np
import pytest
from rival_plants import grid, method_of, plane, rng
from scipy.spatial.distance import cdist

from tcbo_pyomo import Campaign, settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.methods._tour import _greedy, tour_from
from tcbo_pyomo.methods.truncated_snake import smallest_lengthscale, without_visited
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum

BATCH = np.array([[0.0, 0.0], [0.1, 0.0], [0.4, 0.4], [-0.4, 0.1]])


def test_the_nearest_point_goes_if_it_is_closer_than_the_lengthscale():
    # (0.06, 0) is 0.06 from the first and 0.04 from the second point.
    left = without_visited(BATCH, np.array([[0.06, 0.0]]), 0.2, rng())
    assert left.tolist() == BATCH[[0, 2, 3]].tolist()
    # A second visit of the same place takes the next nearest; each visit takes one point.
    left = without_visited(BATCH, np.array([[0.06, 0.0], [0.06, 0.0]]), 0.2, rng())
    assert left.tolist() == BATCH[[2, 3]].tolist()


def test_a_random_point_goes_if_none_is_near():
    gone = set()
    for seed in range(40):
        left = without_visited(BATCH, np.array([[0.06, 0.0]]), 0.03, rng(seed)).tolist()
        assert len(left) == 3
        gone |= {index for index, point in enumerate(BATCH.tolist()) if point not in left}
    assert gone == {0, 1, 2, 3}


def test_exactly_a_lengthscale_away_is_not_near():
    gone = {without_visited(BATCH[:2], np.array([[0.0, 0.5]]), 0.5, rng(seed))[0, 0] for seed in range(20)}
    assert gone == {0.0, 0.1}


def test_the_tour_of_a_square_goes_round_and_starts_with_the_shorter_leg():
    corners = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert tour_from(np.array([0.0, 0.1]), corners, rng()).tolist() == [1, 0, 2]
    assert tour_from(np.array([0.1, 0.0]), corners, rng()).tolist() == [2, 0, 1]


def tour_length(start, points):
    """Length of the round trip from `start` through the points in their order and back."""
    return np.linalg.norm(np.diff(np.vstack([start, points, start]), axis=0), axis=1).sum()


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6, 7])
def test_small_tours_are_the_shortest_there_are(number):
    for seed in range(6):
        points, start = rng(seed).uniform(-0.5, 0.5, (number, 2)), np.array([0.1, -0.2])
        order = tour_from(start, points, rng(seed + 100))
        assert sorted(order) == list(range(number))
        shortest = min(tour_length(start, points[list(way)]) for way in itertools.permutations(range(number)))
        assert tour_length(start, points[order]) == pytest.approx(shortest, rel=1e-9)


def test_annealing_shortens_the_greedy_tour_and_copes_with_equal_points():
    points = rng(3).uniform(-0.5, 0.5, (60, 3))
    stops = np.vstack([np.zeros(3), points])
    greedy = tour_length(np.zeros(3), stops[_greedy(cdist(stops, stops))[1:]])
    assert tour_length(np.zeros(3), points[tour_from(np.zeros(3), points, rng())]) < greedy
    assert sorted(tour_from(np.zeros(2), np.zeros((6, 2)), rng())) == [0, 1, 2, 3, 4, 5]


def method_with(batch, problem=None, **changes):
    problem = problem or plane(BoxActions(0.1), start={"x": 5.0, "y": 2.5}, horizon=len(batch) - 1, **changes)
    method = method_of("truncated_snake", problem, settings_from(dict(problem.settings)))
    asked = []
    method.sampling = lambda belief, generator, allowed, goal: asked.append(allowed) or np.array(batch)
    return problem, method


def test_the_move_goes_to_the_first_stop_of_the_tour_and_is_clipped():
    # The visit of the start (0, 0) deletes (0.01, 0); of the others (0.3, 0.02) is nearer.
    problem, method = method_with([[0.01, 0.0], [0.3, 0.02], [0.4, 0.4]])
    knowledge = Campaign(problem, settings_from(dict(problem.settings))).knowledge
    action = method.next_decision(Situation(((0.0, 0.0),)), knowledge, rng())
    assert action == pytest.approx((0.1, 0.02))
    # One point is left after two visits, and it is walked to in the end.
    action = method.next_decision(Situation(((0.0, 0.0), (0.25, 0.02)), ((0.1, 0.02),)), knowledge, rng())
    assert action == pytest.approx((0.1, 0.1))


def test_the_batch_holds_one_point_per_visit_of_the_episode():
    problem = plane(horizon=7)
    assert method_of("truncated_snake", problem, settings_from(dict(problem.settings))).sampling.count == 8


def test_the_smallest_lengthscale_of_a_composite_kernel_counts():
    kernel = Scaled(2.0, Sum((ReactionKinetics(), SquaredExponential(0.1, (0.3, 0.2)))))
    assert smallest_lengthscale(kernel) == 0.2


def test_pairs_that_make_no_sense_are_refused_with_the_reason():
    with pytest.raises(BadInput, match=r"truncated_snake.*'grid' has a finite process"):
        method_of("truncated_snake", grid())
    with pytest.raises(BadInput, match=r"truncated_snake.*the action is not the move itself"):
        method_of("truncated_snake", plane(dynamics=LinearDynamics(0.5 * np.eye(2), np.eye(2), BoxActions(0.1))))
    with pytest.raises(BadInput, match=r"truncated_snake.*'reaction_kinetics' has none"):
        method_of("truncated_snake", plane(kernel=ReactionKinetics()))
