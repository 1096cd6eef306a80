"""Learned hyper-parameters: gradients against finite differences, the optimum against a grid, and what must never happen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from tcbo_pyomo.surrogate.hyperparameter_density import HyperparameterDensity
from tcbo_pyomo.surrogate.kernel_factors import Factors, Spreads, with_factors
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum
from tcbo_pyomo.surrogate.learner import Learner, loosened
from tcbo_pyomo.surrogate.most_probable_factors import learn

SPREADS = Spreads((0.7, 0.5), 1.0, 0.8)
LEVEL = Sum((SquaredExponential(1.0, 0.3), Constant(0.5, 0.3)))


def results(count, kernel=LEVEL, noise=0.01, seed=0):
    generator = np.random.default_rng(seed)
    points = generator.uniform(-0.5, 0.5, (count, 2))
    covariance = kernel(points, points) + noise * np.eye(count)
    values = kernel.mean(points) + np.linalg.cholesky(covariance) @ generator.standard_normal(count)
    return points, values, np.full(count, noise)


@pytest.mark.parametrize(
    "kernel",
    [
        LEVEL,
        MaternFiveHalves(0.6, (0.2, 0.5)),
        Sum((ReactionKinetics(), Scaled(0.5, Sum((SquaredExponential(0.3, 0.2), MaternFiveHalves(0.1, 0.4)))))),
    ],
)
def test_the_density_is_a_normal_one_with_the_factors_applied_and_has_its_gradient(kernel):
    points, values, noise = results(9)
    density = HyperparameterDensity(kernel, SPREADS, points, values, noise)
    generator = np.random.default_rng(5)
    thetas = generator.normal(0.0, 0.4, (3, 4))
    reference = []
    for theta in thetas:
        factors = Factors(tuple(np.exp(theta[:2])), float(np.exp(theta[2])), float(np.exp(theta[3])))
        assert density.factors(theta) == factors
        changed = with_factors(kernel, factors)
        covariance = changed(points, points) + factors.noise * np.diag(noise)
        likelihood = multivariate_normal(changed.mean(points), covariance).logpdf(values)
        reference.append(likelihood - 0.5 * ((theta / density.spreads) ** 2).sum())
        slope = [
            (density(theta + 1e-5 * unit)[0] - density(theta - 1e-5 * unit)[0]) / 2e-5 for unit in np.eye(4)
        ]
        np.testing.assert_allclose(density(theta)[1], slope, rtol=1e-5, atol=1e-5)
    found = [density(theta)[0] for theta in thetas]
    np.testing.assert_allclose(np.diff(found), np.diff(reference), rtol=1e-8)


def test_repeats_count_as_they_would_one_by_one():
    points, values, noise = results(6)
    points, noise = np.repeat(points, (1, 4, 1, 1, 2, 1), axis=0), np.linspace(0.01, 0.05, 10)
    values = np.append(values, (0.3, -0.1, 0.5, 0.2))
    density = HyperparameterDensity(LEVEL, SPREADS, points, values, noise)
    thetas = np.random.default_rng(3).normal(0.0, 0.5, (4, 4))
    reference = []
    for theta in thetas:
        factors = density.factors(theta)
        changed = with_factors(LEVEL, factors)
        covariance = changed(points, points) + factors.noise * np.diag(noise)
        likelihood = multivariate_normal(changed.mean(points), covariance).logpdf(values)
        reference.append(likelihood - 0.5 * ((theta / density.spreads) ** 2).sum())
        slope = [(density(theta + 1e-5 * unit)[0] - density(theta - 1e-5 * unit)[0]) / 2e-5 for unit in np.eye(4)]
        np.testing.assert_allclose(density(theta)[1], slope, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.diff([density(theta)[0] for theta in thetas]), np.diff(reference), rtol=1e-8)


def test_results_with_infinite_noise_teach_nothing():
    points, values, noise = results(20)
    wild, without = values.copy(), np.arange(20) != 7
    wild[7] = 300.0
    learned = learn(LEVEL, SPREADS, points, wild, np.where(without, noise, np.inf))
    assert learned.factors == learn(LEVEL, SPREADS, points[without], values[without], noise[without]).factors
    assert learned.results == 20


def test_the_answer_is_the_best_of_a_fine_grid():
    points, values, noise = results(25, Sum((SquaredExponential(1.0, (0.1, 0.8)), Constant(0.5, 0.3))))
    spreads = Spreads((0.7, 0.7))
    density = HyperparameterDensity(LEVEL, spreads, points, values, noise)
    axis = np.linspace(-2.5, 2.5, 41)
    grid = max(density(np.array([a, b]))[0] for a in axis for b in axis)
    learned = learn(LEVEL, spreads, points, values, noise)
    assert density(np.log(learned.factors.lengthscales))[0] >= grid
    short, long = learned.factors.lengthscales
    assert short < 0.6 and long > 1.2


def test_every_coordinate_gets_its_own_lengthscale_and_the_noise_is_found():
    truth = Sum((SquaredExponential(1.0, (0.15, 0.6)), Constant(0.5, 0.3)))
    points, values, noise = results(150, truth, noise=0.04)
    learned = learn(LEVEL, Spreads((0.7, 0.7), 0.0, 1.0), points, values, noise / 10.0)
    found = learned.kernel.kernels[0].lengthscale
    np.testing.assert_allclose(found, (0.15, 0.6), rtol=0.35)
    assert learned.factors.noise == pytest.approx(10.0, rel=0.4)
    assert learned.factors.variance == 1.0
    assert max(learned.uncertainty.lengthscales) < 0.3 and learned.uncertainty.noise < 0.3


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.floats(-3.0, 3.0))
def test_learning_is_pure_bounded_and_never_less_probable_than_what_was_declared(seed, count, magnitude):
    points, values, noise = results(count, seed=seed)
    values = values * 10.0**magnitude
    first, again = (learn(LEVEL, SPREADS, points, values, noise) for _ in range(2))
    assert first == again
    density = HyperparameterDensity(LEVEL, SPREADS, points, values, noise)
    factors = np.log([*first.factors.lengthscales, first.factors.variance, first.factors.noise])
    assert density(factors)[0] >= density(np.zeros(4))[0]
    assert first.factors.variance >= 1.0
    assert (np.abs(factors) <= 4.0 * density.spreads + 1e-9).all()
    after = np.array([*first.uncertainty.lengthscales, first.uncertainty.variance, first.uncertainty.noise])
    assert (after > 0.0).all() and (after <= density.spreads + 1e-12).all()


def test_few_results_or_certain_values_change_nothing():
    points, values, noise = results(4)
    assert learn(LEVEL, SPREADS, points, values, noise).kernel is LEVEL
    points, values, noise = results(20)
    assert learn(LEVEL, Spreads((0.0, 0.0)), points, values, noise).kernel is LEVEL
    assert learn(ReactionKinetics(), Spreads((0.7, 0.7), 1.0), points, values, noise).kernel == ReactionKinetics()


def test_repeated_points_without_noise_do_not_end_the_search():
    points, values = np.zeros((8, 2)), np.arange(8.0)
    assert learn(LEVEL, SPREADS, points, values, np.full(8, 1e-300)).kernel is not None


def test_many_results_are_thinned_out():
    points, values, noise = results(600)
    learned = learn(LEVEL, Spreads((0.7, 0.7)), points, values, noise)
    assert learned.results == 600
    np.testing.assert_allclose(learned.kernel.kernels[0].lengthscale, (0.3, 0.3), rtol=0.3)


def test_a_given_kernel_gets_an_unknown_level_unless_it_has_one():
    plain = SquaredExponential(4.0, 0.3)
    assert loosened(plain) == Sum((plain, Constant(0.0, 36.0)))
    shifted = Sum((plain, Constant(10.0, 1e-9)))
    assert loosened(shifted) == Sum((plain, Constant(10.0, 1e-9), Constant(0.0, 36.0))), "a certain level is a mean"
    assert loosened(LEVEL) is LEVEL
    assert loosened(ReactionKinetics()) == ReactionKinetics()


def test_no_lengthscale_is_believed_to_be_longer_than_declared_before_enough_results():
    truth = Sum((SquaredExponential(1.0, (0.1, 2.0)), Constant(0.5, 0.3)))
    points, values, noise = results(30, truth)
    held, free = (Learner(LEVEL, Spreads((0.7, 0.7)), held_until=until)(points, values, noise) for until in (31, 30))
    assert free.factors.lengthscales[1] > 1.5
    assert held.factors.lengthscales == (free.factors.lengthscales[0], 1.0)
    assert held.kernel == with_factors(LEVEL, held.factors)
    given = Learner.around(LEVEL, 2, 31)(points, values, noise)
    assert given.factors.lengthscales[1] <= 3.0
