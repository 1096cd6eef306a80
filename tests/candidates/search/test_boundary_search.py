"""Maxima at the edge of forbidden regions: geometry by hand, and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcbo_pyomo import load_problem
from tcbo_pyomo.candidates.search.boundary_search import _last_allowed
from tcbo_pyomo.candidates.search.multi_start import global_maxima, maximise_many
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.knowledge.continuous import best_expected
from tcbo_pyomo.studies.execution import with_drawn_truth
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


class Cones:
    """-|x - c_i|^2 / 2: the nearer to the tip, the higher."""

    def __init__(self, tips):
        self.tips, self.count = np.atleast_2d(tips), len(np.atleast_2d(tips))

    def rough(self):
        return self

    def value(self, points):
        return -0.5 * ((points[:, None, :] - self.tips) ** 2).sum(axis=2)

    def value_and_gradient(self, points, owner):
        offset = points - self.tips[owner]
        return -0.5 * (offset**2).sum(axis=1), -offset


def outside_disc(radius):
    return lambda points: np.linalg.norm(points[:, :2], axis=1) >= radius


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 0.25), st.floats(0.0, 2 * np.pi), st.floats(0.0, 2 * np.pi))
def test_the_nearest_point_of_a_circle(share, angle, from_angle):
    """Tips inside a disc of radius 0.3: the best allowed point is the one of the circle in their direction."""
    tip = share * np.array([np.cos(angle), np.sin(angle)])
    # A single search from anywhere outside: straight ahead it meets the edge at another place.
    start = 0.45 * np.array([np.cos(from_angle), np.sin(from_angle)])
    half = np.full(2, 0.5)
    found = maximise_many(Cones(tip), -half, half, start[None, None, :], outside_disc(0.3), along_edges=True)
    np.testing.assert_allclose(found.points[0], 0.3 * tip / share, atol=2e-3)
    assert found.values[0] == pytest.approx(-0.5 * (0.3 - share) ** 2, abs=1e-6)
    assert outside_disc(0.3)(found.points).all()


def test_many_functions_some_of_them_with_their_tops_in_the_open():
    tips = np.array([[0.1, 0.0, 0.2], [0.4, 0.4, -0.3], [0.0, -0.2, 0.0]])
    found = global_maxima(Cones(tips), 3, outside_disc(0.3), along_edges=True)
    expected = np.array([[0.3, 0.0, 0.2], [0.4, 0.4, -0.3], [0.0, -0.3, 0.0]])
    np.testing.assert_allclose(found.points, expected, atol=2e-3)
    np.testing.assert_allclose(found.values, [-0.02, 0.0, -0.005], atol=1e-6)


def test_the_corner_between_two_edges():
    """All but x <= 0.1 and y <= 0.2 is forbidden, and the tip lies beyond both."""
    found = global_maxima(Cones([0.4, 0.3]), 2, lambda points: (points <= [0.1, 0.2]).all(axis=1), along_edges=True)
    np.testing.assert_allclose(found.points[0], [0.1, 0.2], atol=1e-5)


def test_the_same_search_gives_the_same_answer():
    first, second = (global_maxima(Cones([0.05, 0.1]), 2, outside_disc(0.3), along_edges=True) for _ in range(2))
    np.testing.assert_array_equal(first.points, second.points)


@pytest.mark.parametrize("seed", [3, 8])
def test_drawn_functions_whose_top_lies_inside_a_pillar(seed):
    """Against the best of 30,000 allowed points: it was below them before searches followed the edge."""
    problem = with_drawn_truth(load_problem("hartmann3d_obstacles"), seed)
    points = np.random.default_rng(1).random((30_000, 3)) - 0.5
    values = problem.truth(physical(problem.coordinates, points))
    free = problem.allowed(points)
    assert values[~free].max() > problem.maximum  # the pillars hide something higher
    assert values[free].max() <= problem.maximum
    assert problem.maximum - values[free].max() < 0.05 * np.ptp(values)


def test_the_recommendation_beside_a_forbidden_disc_is_that_of_a_dense_grid():
    surrogate = ContinuousBelief(SquaredExponential(1.0, 0.3), 2)
    for point in np.random.default_rng(2).random((25, 2)) - 0.5:
        surrogate.observe(point, -4.0 * ((point - [0.12, 0.05]) ** 2).sum(), 1e-3)
    best = best_expected(surrogate, allowed=outside_disc(0.3))
    axis = np.linspace(-0.5, 0.5, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    mean = surrogate.mean(grid)
    free = outside_disc(0.3)(grid)
    assert outside_disc(0.3)(best[None])[0] and mean[~free].max() > mean[free].max() + 0.1
    assert mean[free].max() <= surrogate.mean(best[None])[0] <= mean[free].max() + 0.01


def test_the_edge_is_that_of_one_bisection_after_the_other():
    """To the last bit: several bisections are answered by one question."""
    generator, calls = np.random.default_rng(5), []
    origin, uphill = generator.uniform(0.2, 0.8, (40, 3)), generator.standard_normal((40, 3))
    lower, width, reach = np.full(3, -0.5), np.ones(3), np.full(40, 0.3)

    def allowed(points):
        calls.append(len(points))
        return outside_disc(0.3)(points)

    found, usable = _last_allowed(origin, uphill, reach, lower, width, allowed)
    assert len(calls) < 12
    edges = 0
    for row in range(40):

        def at(along, row=row):
            return lower + width * np.clip(origin[row : row + 1] + along * uphill[row], 0.0, 1.0)

        near, far = -reach[row], reach[row]
        assert usable[row] == outside_disc(0.3)(at(near))[0]
        near = far if outside_disc(0.3)(at(far))[0] else near
        edges += near != far
        for _ in range(22):
            middle = 0.5 * (near + far)
            near, far = (middle, far) if outside_disc(0.3)(at(middle))[0] else (near, middle)
        assert np.array_equal(found[row], at(near)[0])
    assert edges > 5
