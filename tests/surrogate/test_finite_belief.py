"""The belief: any order of measurements gives the batch posterior, and rounding never makes it indefinite."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.features import exact_factor, nystroem_features
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

MEASUREMENTS = st.lists(
    st.tuples(st.integers(0, 7), st.floats(-3, 3), st.floats(-4, 1).map(lambda power: 10.0**power)),
    min_size=1,
    max_size=12,
)


def batch_posterior(mean, covariance, measurements):
    """The textbook formula for all measurements at once."""
    rows = [row for row, _, _ in measurements]
    values = np.array([value for _, value, _ in measurements])
    gram = covariance[np.ix_(rows, rows)] + np.diag([noise for _, _, noise in measurements])
    gain = np.linalg.solve(gram, covariance[rows]).T
    return mean + gain @ (values - mean[rows]), covariance - gain @ covariance[rows]


@settings(max_examples=60, deadline=None)
@given(MEASUREMENTS, st.integers(1, 10), st.integers(0, 1000))
def test_many_at_once_give_the_batch_posterior(measurements, rank, seed):
    generator = np.random.default_rng(seed)
    mean, factor = generator.normal(size=8), generator.normal(size=(8, rank))
    belief = FiniteBelief(mean, factor)
    belief.observe_all(*(np.array(column) for column in zip(*measurements, strict=True)))
    expected_mean, expected_covariance = batch_posterior(mean, factor @ factor.T, measurements)
    np.testing.assert_allclose(belief.mean, expected_mean, atol=1e-7)
    np.testing.assert_allclose(belief.factor @ belief.factor.T, expected_covariance, atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(MEASUREMENTS, st.randoms(use_true_random=False), st.integers(1, 10), st.integers(0, 1000))
def test_any_order_gives_the_batch_posterior(measurements, random, rank, seed):
    generator = np.random.default_rng(seed)
    mean, factor = generator.normal(size=8), generator.normal(size=(8, rank))
    expected_mean, expected_covariance = batch_posterior(mean, factor @ factor.T, measurements)
    for _ in range(2):
        belief = FiniteBelief(mean, factor)
        for measurement in measurements:
            belief.observe(*measurement)
        np.testing.assert_allclose(belief.mean, expected_mean, atol=1e-8)
        np.testing.assert_allclose(belief.factor @ belief.factor.T, expected_covariance, atol=1e-9)
        random.shuffle(measurements)


def test_two_thousand_updates_with_tiny_noise_stay_positive_semi_definite(grid):
    kernel, noise = SquaredExponential(1.0, 0.15), 1e-12
    generator = np.random.default_rng(0)
    truth = exact_factor(kernel, grid) @ generator.normal(size=exact_factor(kernel, grid).shape[1])
    belief = FiniteBelief(np.zeros(121), exact_factor(kernel, grid))
    visits = np.zeros(121)
    for row in generator.integers(0, 121, 2000):
        visits[row] += 1
        belief.observe(row, truth[row], noise)
    covariance = belief.factor @ belief.factor.T
    assert np.linalg.eigvalsh(covariance).min() > -1e-9 * covariance.max()
    # A state measured k times is known at least as well as from those k measurements alone.
    assert np.all(belief.variance > 0) and np.all(belief.variance <= noise / visits * (1 + 1e-6))
    np.testing.assert_allclose(belief.mean, truth, atol=1e-5)


def test_a_visit_without_a_value_changes_the_variance_alone(grid):
    belief = FiniteBelief(np.ones(121), exact_factor(SquaredExponential(1.0, 0.2), grid))
    known = belief.copy()
    belief.observe(60, None, 0.01)
    known.observe(60, 3.0, 0.01)
    np.testing.assert_array_equal(belief.mean, np.ones(121))
    np.testing.assert_array_equal(belief.variance, known.variance)


def test_a_belief_about_weights_equals_a_belief_about_states(grid, knorr):
    features = nystroem_features(knorr, grid, grid)
    states = FiniteBelief(np.zeros(121), features)
    weights = FiniteBelief(np.zeros(features.shape[1]), np.eye(features.shape[1]))
    exact = ContinuousBelief(knorr, 2)
    for row, value in ((5, 0.1), (80, 0.2), (100, 0.3)):
        exact.observe(grid[row], value, 0.01)
        surprise = value - knorr.mean(grid[[row]])[0]
        states.observe(row, surprise, 0.01)
        weights.observe_along(features[row], surprise, 0.01)
    np.testing.assert_allclose(features @ weights.mean, states.mean, atol=1e-12)
    np.testing.assert_allclose(((features @ weights.factor) ** 2).sum(axis=1), states.variance, atol=1e-12)
    np.testing.assert_allclose(states.mean + knorr.mean(grid), exact.mean(grid), atol=1e-10)
