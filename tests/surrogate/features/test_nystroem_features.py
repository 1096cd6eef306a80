"""Nystroem features: exact with all states, better with more points, better than a random choice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tcbo_pyomo.surrogate.features import box_pool, greedy_points, nystroem_features, nystroem_projection
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def largest_error(kernel, inducing, points):
    features = nystroem_features(kernel, inducing, points)
    return np.abs(features @ features.T - kernel(points, points)).max()


def test_with_all_states_the_kernel_is_exact(kernel, grid):
    phi = nystroem_features(kernel, grid, grid)
    assert len(phi) == 121 and phi.shape[1] <= 121
    np.testing.assert_allclose(phi @ phi.T, kernel(grid, grid), atol=1e-9)
    inducing = greedy_points(kernel, grid, 121)
    assert largest_error(kernel, inducing, grid) < 1e-9


def test_unexplained_variance_falls_with_the_number_of_points(kernel, grid):
    left = []
    for number in (5, 15, 40, 121):
        phi = nystroem_features(kernel, greedy_points(kernel, grid, number), grid)
        left.append(np.sum(kernel.diagonal(grid) - (phi**2).sum(axis=1)) / np.sum(kernel.diagonal(grid)))
    assert all(after < 0.9 * before or after < 1e-12 for before, after in pairwise(left))
    assert abs(left[-1]) < 1e-11


def test_greedy_points_are_states_without_repeats_and_nested(grid):
    kernel = SquaredExponential(1.0, 0.1)
    chosen = greedy_points(kernel, grid, 30)
    rows = {tuple(row) for row in grid}
    assert len({tuple(row) for row in chosen}) == 30 and all(tuple(row) in rows for row in chosen)
    np.testing.assert_array_equal(greedy_points(kernel, grid, 12), chosen[:12])
    twice = np.vstack([grid, grid])
    assert len(greedy_points(kernel, twice, 242)) == 121


def test_greedy_points_explain_more_than_random_points():
    kernel = SquaredExponential(1.0, 0.2)
    generator = np.random.default_rng(3)
    everywhere = generator.uniform(-0.5, 0.5, (500, 2))
    corner = np.array([[-0.5, -0.5]])
    where = np.vstack([everywhere, corner])
    greedy = largest_error(kernel, greedy_points(kernel, box_pool(2, generator), 64), where)
    random = [largest_error(kernel, generator.uniform(-0.5, 0.5, (64, 2)), where) for _ in range(20)]
    assert greedy < 0.1 * min(random)


def test_the_pool_fills_the_box_and_repeats_with_its_seed():
    pool = box_pool(3, np.random.default_rng(8))
    assert pool.shape == (8 + 4096, 3) and np.abs(pool).max() == 0.5
    np.testing.assert_allclose(pool.mean(axis=0), 0.0, atol=1e-3)
    np.testing.assert_array_equal(pool, box_pool(3, np.random.default_rng(8)))
    assert np.any(pool != box_pool(3, np.random.default_rng(9)))
    kernel = MaternFiveHalves(1.0, 0.3)
    assert nystroem_projection(kernel, greedy_points(kernel, pool, 50)).shape == (50, 50)
