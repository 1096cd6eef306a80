"""What a point is worth: against textbook formula, Monte Carlo and finite differences."""

import numpy as np
from rival_plants import rng
from scipy.stats import norm

from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds, ImprovementSurface
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.improvement import expected_improvement
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

MEAN = np.array([0.0, 1.0, -2.0, 0.3, 0.7])
DEVIATION = np.array([1.0, 0.5, 1.5, 0.01, 2.0])


def test_it_is_the_textbook_formula():
    u = (MEAN - 0.4) / DEVIATION
    expected = (MEAN - 0.4) * norm.cdf(u) + DEVIATION * norm.pdf(u)
    assert np.allclose(expected_improvement(MEAN, DEVIATION, 0.4), expected, rtol=1e-12, atol=1e-300)


def test_it_is_the_mean_gain_over_the_incumbent():
    draws = MEAN + DEVIATION * rng().standard_normal((400_000, 5))
    gains = np.maximum(draws - 0.4, 0.0)
    error = gains.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(gains.mean(axis=0) - expected_improvement(MEAN, DEVIATION, 0.4)) < 4 * error + 1e-12).all()


def test_what_is_certain_improves_by_the_difference_and_what_is_hopeless_by_nothing():
    assert expected_improvement(np.array([1.0, 0.2]), np.zeros(2), 0.5).tolist() == [0.5, 0.0]
    hopeless = expected_improvement(np.array([-100.0]), np.array([1.0]), 0.0)
    assert hopeless[0] == 0.0 or 0.0 < hopeless[0] < 1e-300


def test_the_gradient_on_a_box_is_that_of_finite_differences():
    surrogate = ContinuousBelief(MaternFiveHalves(0.9, (0.3, 0.2)), 2)
    for point, value in zip(rng(1).uniform(-0.5, 0.5, (6, 2)), rng(2).standard_normal(6), strict=True):
        surrogate.observe(point, value, 0.01)
    surface = ImprovementSurface(surrogate, 0.3)
    points, owner = rng(3).uniform(-0.5, 0.5, (20, 2)), np.zeros(20, dtype=int)
    value, gradient = surface.value_and_gradient(points, owner)
    assert np.allclose(surface.value(points)[:, 0], value, rtol=1e-10)
    for axis in range(2):
        step = 1e-5 * np.eye(2)[axis]
        slope = (surface.value(points + step) - surface.value(points - step))[:, 0] / 2e-5
        assert np.allclose(slope, gradient[:, axis], rtol=1e-5, atol=1e-8)


def test_bounds_have_the_right_gradients():
    surrogate = ContinuousBelief(SquaredExponential(0.5, 0.2), 3)
    for point in rng(0).uniform(-0.5, 0.5, (25, 3)):
        surrogate.observe(point, np.sin(7.0 * point).sum(), 1e-4)
    bounds = ConfidenceBounds(surrogate, np.array([0.0, 1.0, 2.5]))
    where, owner = rng(1).uniform(-0.45, 0.45, (9, 3)), np.arange(9) % 3
    value, gradient = bounds.value_and_gradient(where, owner)
    np.testing.assert_allclose(value, bounds.value(where)[np.arange(9), owner], atol=1e-12)
    steps = 1e-5 * np.eye(3)
    columns = [(bounds.value(where + s) - bounds.value(where - s))[np.arange(9), owner] / 2e-5 for s in steps]
    np.testing.assert_allclose(gradient, np.stack(columns, axis=1), atol=1e-5 * np.abs(gradient).max())
