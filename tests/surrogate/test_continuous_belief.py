"""The continuous surrogate against scikit-learn, finite differences, and the statistics of its own samples."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum
from tcbo_pyomo.surrogate.random_waves import RandomWaves

STEP = 1e-5
REPRESENTATIONS = ["exact", "nystroem"]
KNORR = Sum((ReactionKinetics(0.6, 0.0225), SquaredExponential(0.001, 0.1)))


def data(number, dimension, seed=0):
    generator = np.random.default_rng(seed)
    return generator.random((number, dimension)) - 0.5, generator.standard_normal(number)


def surrogate(kernel, dimension, representation="exact", number=20, noise=1e-3, seed=0):
    belief = ContinuousBelief(kernel, dimension, representation)
    for point, value in zip(*data(number, dimension, seed), strict=True):
        belief.observe(point, value, noise)
    return belief


def differences(function, where):
    steps = STEP * np.eye(where.shape[1])
    return np.stack([(function(where + step) - function(where - step)) / (2 * STEP) for step in steps], axis=-1)


def gradients(samples, where):
    """Of all functions at n points, n x k x d."""
    slopes = [samples.value_and_gradient(where, np.full(len(where), i))[1] for i in range(samples.count)]
    return np.stack(slopes, axis=1)


@pytest.mark.parametrize("dimension", [2, 4, 6])
def test_exact_mean_deviation_and_covariance_equal_scikit_learn(dimension):
    points, values = data(60, dimension)
    noise = np.linspace(1e-4, 1e-1, 60)
    belief = ContinuousBelief(SquaredExponential(1.7, 0.22), dimension)
    for point, value, variance in zip(points, values, noise, strict=True):
        belief.observe(point, value, variance)
    oracle = GaussianProcessRegressor(ConstantKernel(1.7) * RBF(0.22), alpha=noise, optimizer=None).fit(points, values)
    where = data(50, dimension, 5)[0]
    mean, deviation = oracle.predict(where, return_std=True)
    np.testing.assert_allclose(belief.mean(where), mean, atol=1e-8)
    np.testing.assert_allclose(belief.standard_deviation(where), deviation, atol=1e-8)
    covariance = oracle.predict(where, return_cov=True)[1]
    np.testing.assert_allclose(belief.covariance(where, where), covariance, atol=1e-8)


def test_nystroem_equals_exact_where_the_features_are_good():
    kernel = SquaredExponential(1.0, 0.3)
    exact, features = surrogate(kernel, 2), surrogate(kernel, 2, "nystroem")
    where = data(50, 2, 5)[0]
    np.testing.assert_allclose(features.mean(where), exact.mean(where), atol=1e-3)
    np.testing.assert_allclose(features.standard_deviation(where), exact.standard_deviation(where), atol=1e-3)
    left = exact.covariance_with(where[0], where[1]).value(where)
    np.testing.assert_allclose(features.covariance_with(where[0], where[1]).value(where), left, atol=1e-3)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("kernel", [SquaredExponential(1.3, 0.2), MaternFiveHalves(1.3, 0.3), KNORR])
def test_gradients_agree_with_differences(kernel, representation):
    belief = surrogate(kernel, 2, representation)
    belief.observe([0.1, 0.1], None, 1e-3)
    where = 0.9 * data(6, 2, 5)[0]
    for function in (belief.mean_and_gradient, belief.standard_deviation_and_gradient):
        gradient, expected = function(where)[1], differences(lambda x, f=function: f(x)[0], where)
        np.testing.assert_allclose(gradient, expected, atol=2e-5 * np.abs(expected).max())
    np.testing.assert_allclose(belief.mean_and_gradient(where)[0], belief.mean(where), atol=1e-12)
    samples = belief.samples(4, np.random.default_rng(0))
    expected = differences(samples.value, where)
    np.testing.assert_allclose(gradients(samples, where), expected, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", [SquaredExponential(2.0, 0.14), Sum((SquaredExponential(), MaternFiveHalves()))])
def test_random_waves_carry_the_prior_samples_in_three_dimensions(kernel):
    samples = surrogate(kernel, 3).samples(5, np.random.default_rng(0))
    assert isinstance(samples.waves, RandomWaves)
    where = 0.9 * data(9, 3, 5)[0]
    np.testing.assert_allclose(gradients(samples, where), differences(samples.value, where), atol=1e-5)
    owner = np.arange(9) % 5
    value, gradient = samples.value_and_gradient(where, owner)
    np.testing.assert_allclose(value, samples.value(where)[np.arange(9), owner], atol=1e-12)
    rough_value, rough_gradient = samples.rough().value_and_gradient(where, owner)
    np.testing.assert_allclose(rough_value, value, atol=2e-5)
    np.testing.assert_allclose(rough_gradient, gradient, atol=2e-4)
    np.testing.assert_allclose(samples.rough().value(where), samples.value(where), atol=2e-5)


@pytest.mark.parametrize(
    ("dimension", "representation", "draws"), [(2, "exact", 1), (2, "nystroem", 1), (3, "exact", 20), (6, "exact", 20)]
)
def test_samples_have_the_posterior_mean_and_covariance(dimension, representation, draws):
    belief = surrogate(SquaredExponential(1.0, 0.2), dimension, representation, number=8, noise=0.05)
    generator = np.random.default_rng(3)
    where = np.vstack([belief.measured[:3] + 0.02, data(4, dimension, 9)[0]])
    # Every draw has frequencies of its own: over many draws their error averages out.
    values = np.hstack([belief.samples(5000 // draws, generator).value(where) for _ in range(draws)])
    deviation = belief.standard_deviation(where)
    assert (np.abs(values.mean(axis=1) - belief.mean(where)) < 4.5 * deviation / np.sqrt(5000)).all()
    error = np.cov(values) - belief.covariance(where, where)
    assert np.abs(error / np.outer(deviation, deviation)).max() < 4.5 * np.sqrt(2 / 5000)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_pending_visits_shrink_the_variance_and_nothing_else(representation):
    belief = surrogate(SquaredExponential(1.0, 0.2), 2, representation)
    waiting, where = belief.copy(), data(30, 2, 5)[0]
    waiting.observe([0.2, -0.1], None, 1e-3)
    np.testing.assert_array_equal(waiting.mean(where), belief.mean(where))
    assert (waiting.variance(where) <= belief.variance(where) + 1e-12).all()
    assert waiting.variance(np.array([[0.2, -0.1]]))[0] < 1e-3
    assert len(waiting.measured) == len(belief.measured) == 20


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_a_value_after_a_pending_visit_is_used_as_if_it_had_come_before(representation):
    kernel, where = SquaredExponential(1.0, 0.2), data(30, 2, 5)[0]
    late, early = surrogate(kernel, 2, representation), surrogate(kernel, 2, representation)
    late.observe([0.2, -0.1], None, 1e-3)
    late.observe([0.22, -0.1], 2.0, 1e-3)
    early.observe([0.22, -0.1], 2.0, 1e-3)
    early.observe([0.2, -0.1], None, 1e-3)
    np.testing.assert_allclose(late.mean(where), early.mean(where), atol=1e-8)
    np.testing.assert_allclose(late.variance(where), early.variance(where), atol=1e-8)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_a_visit_counts_for_its_fraction(representation):
    """Two halves of a visit are one visit."""
    kernel, where = SquaredExponential(1.0, 0.2), data(30, 2, 5)[0]
    once, halves = surrogate(kernel, 2, representation), surrogate(kernel, 2, representation)
    once.observe([0.2, -0.1], None, 1e-2)
    for _ in range(2):
        halves.observe([0.2, -0.1], None, 2e-2)
    np.testing.assert_allclose(halves.variance(where), once.variance(where), atol=1e-9)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_differences_of_candidates(representation):
    belief = surrogate(SquaredExponential(1.0, 0.2), 3, representation)
    where = data(6, 3, 5)[0]
    covariance = belief.covariance(where, where)
    variances = belief.difference_variances(where)
    expected = covariance[1, 1] + covariance[4, 4] - 2 * covariance[1, 4]
    np.testing.assert_allclose(variances[1, 4], expected, atol=1e-12)
    np.testing.assert_allclose(variances, variances.T, atol=1e-12)
    first, second = np.unravel_index(variances.argmax(), variances.shape)
    difference = belief.covariance_with(where[first], where[second])
    np.testing.assert_allclose(difference.value(where)[:, 0], covariance[first] - covariance[second], atol=1e-10)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_a_copy_is_independent(representation):
    belief = surrogate(SquaredExponential(1.0, 0.2), 2, representation)
    where = data(5, 2, 5)[0]
    before = belief.mean(where), belief.variance(where)
    belief.copy().observe(where[0], 5.0, 1e-3)
    np.testing.assert_array_equal(belief.mean(where), before[0])
    np.testing.assert_array_equal(belief.variance(where), before[1])


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_the_prior(representation):
    belief = ContinuousBelief(SquaredExponential(1.5, 0.4), 2, representation)
    where = data(5, 2, 5)[0]
    assert not belief.mean(where).any()
    np.testing.assert_allclose(belief.variance(where), 1.5, rtol=1e-3)
    assert belief.samples(3, np.random.default_rng(0)).value(where).shape == (5, 3)


def test_many_visits_of_one_point_stay_finite():
    belief = ContinuousBelief(SquaredExponential(1.0, 0.2), 2)
    for _ in range(200):
        belief.observe([0.1, 0.1], 1.0, 1e-12)
    where = np.array([[0.1, 0.1], [0.3, 0.3]])
    assert np.isfinite(belief.standard_deviation_and_gradient(where)[1]).all()
    np.testing.assert_allclose(belief.mean(where[:1]), 1.0, atol=1e-4)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_samples_are_reproducible(representation):
    belief, where = surrogate(SquaredExponential(1.0, 0.2), 3, representation), data(5, 3, 5)[0]
    first, second = (belief.samples(4, np.random.default_rng(11)).value(where) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], 1.0, 1e-3), "2 finite numbers"),
        (([0.1, np.nan], 1.0, 1e-3), "2 finite numbers"),
        (([0.1, 0.1], np.inf, 1e-3), "must be a finite number, or None"),
        (([0.1, 0.1], 1.0, 0.0), "positive finite"),
    ],
)
def test_bad_observations_are_refused(arguments, message):
    with pytest.raises(BadInput, match=message):
        ContinuousBelief(SquaredExponential(), 2).observe(*arguments)


def test_bad_representations_are_refused():
    with pytest.raises(BadInput, match="did you mean 'nystroem'"):
        ContinuousBelief(SquaredExponential(), 2, "nystrom")
    with pytest.raises(BadInput, match="takes no number"):
        ContinuousBelief(SquaredExponential(), 2, "exact", 64)
    with pytest.raises(BadInput, match="at least 1"):
        ContinuousBelief(SquaredExponential(), 2, "nystroem", 0)
