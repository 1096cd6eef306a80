"""The marginal likelihood and its maximum equal scikit-learn's."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.hyperparameters import fit_hyperparameters, log_marginal_likelihood
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

GENERATOR = np.random.default_rng(17)
POINTS = GENERATOR.uniform(-0.5, 0.5, (40, 2))
NOISE = 10.0 ** GENERATOR.uniform(-4, -2, 40)
VALUES = np.sin(6.0 * POINTS[:, 0]) + np.cos(9.0 * POINTS[:, 1]) + GENERATOR.normal(size=40) * np.sqrt(NOISE)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SquaredExponential(0.8, (0.3, 0.2)), ConstantKernel(0.8) * RBF([0.3, 0.2])),
        (MaternFiveHalves(1.5, 0.4), ConstantKernel(1.5) * Matern(0.4, nu=2.5)),
    ],
)
def test_likelihood_equals_scikit_learn(ours, theirs):
    regressor = GaussianProcessRegressor(theirs, alpha=NOISE, optimizer=None).fit(POINTS, VALUES)
    expected = regressor.log_marginal_likelihood_value_
    assert log_marginal_likelihood(ours, POINTS, VALUES, NOISE) == pytest.approx(expected, rel=1e-10)


def test_likelihood_is_the_normal_density_around_the_prior_mean(kernel, points):
    values, noise = np.linspace(0.1, 0.4, 9), np.linspace(0.01, 0.1, 9)
    covariance = kernel(points, points) + np.diag(noise)
    expected = multivariate_normal(kernel.mean(points), covariance).logpdf(values)
    assert log_marginal_likelihood(kernel, points, values, noise) == pytest.approx(expected, rel=1e-10)


def test_a_singular_covariance_has_no_likelihood():
    kernel = SquaredExponential(1.0, 0.2)
    same, values = np.zeros((4, 2)), np.arange(4.0)
    assert log_marginal_likelihood(kernel, same, values, 1e-300) == -math.inf
    assert fit_hyperparameters(kernel, same, values, 1e-300) == kernel


@pytest.mark.parametrize("start", [(1.0, 0.2), (0.1, 0.9)])
def test_fit_finds_the_maximum_of_scikit_learn(start):
    ours = fit_hyperparameters(SquaredExponential(start[0], (start[1], start[1])), POINTS, VALUES, NOISE)
    theirs = ConstantKernel(1.0) * RBF([0.2, 0.2])
    best = GaussianProcessRegressor(theirs, alpha=NOISE, n_restarts_optimizer=3, random_state=0).fit(POINTS, VALUES)
    found = log_marginal_likelihood(ours, POINTS, VALUES, NOISE)
    assert found == pytest.approx(best.log_marginal_likelihood_value_, abs=1e-4)
    np.testing.assert_allclose(list(ours.parameters.values()), np.exp(best.kernel_.theta), rtol=1e-2)


def test_fit_never_makes_it_worse_is_repeatable_and_stays_in_reach(kernel, points):
    generator = np.random.default_rng(1)
    for number in (3, 9):
        values = generator.normal(size=number)
        data = (points[:number], values, 0.01)
        fitted = fit_hyperparameters(kernel, *data)
        assert type(fitted) is type(kernel)
        assert log_marginal_likelihood(fitted, *data) >= log_marginal_likelihood(kernel, *data)
        assert fit_hyperparameters(kernel, *data) == fitted
        for name, value in fitted.parameters.items():
            assert 0.0099 < value / kernel.parameters[name] < 101.0


def test_a_search_that_ends_somewhere_worse_is_not_believed(monkeypatch):
    kernel = SquaredExponential(1.0, 0.2)
    lost = SimpleNamespace(x=np.log([100.0, 0.002]))
    monkeypatch.setattr("scipy.optimize.minimize", lambda *arguments, **options: lost)
    assert fit_hyperparameters(kernel, POINTS, VALUES, NOISE) is kernel


def test_constant_data_run_into_the_bounds_and_no_further():
    fitted = fit_hyperparameters(SquaredExponential(1.0, 0.1), POINTS, np.zeros(40), 1e-3)
    assert fitted.parameters["variance"] == pytest.approx(0.01)


def test_few_measurements_leave_the_kernel_alone(kernel, points):
    assert fit_hyperparameters(kernel, points[:2], [0.0, 1.0], 0.1) is kernel
    assert fit_hyperparameters(kernel, np.empty((0, 2)), [], 0.1) is kernel


def test_bad_measurements_are_refused(points):
    with pytest.raises(BadInput, match=r"measurement 2: noise variance -1.0 must be a positive finite number"):
        fit_hyperparameters(SquaredExponential(), points[:3], [0.0, 1.0, 2.0], [1.0, 1.0, -1.0])


@pytest.mark.parametrize(
    ("points", "values", "noise", "message"),
    [
        ([0.0, 0.1], [1.0, 2.0], 0.1, "must be n x d and n for the same n"),
        ([[0.0], [0.1]], [1.0], 0.1, "must be n x d and n for the same n"),
        ([[0.0], [0.1]], [1.0, np.nan], 0.1, r"measurement 1: point \[0.1\] and value nan must be finite"),
        ([[np.inf], [0.1]], [1.0, 2.0], 0.1, "measurement 0: point"),
        ([[0.0], [0.1]], [1.0, 2.0], [0.1, 0.0], "measurement 1: noise variance 0.0 must be a positive"),
        ([[0.0], [0.1]], [1.0, 2.0], [0.1], "must be one number or 2, one per measurement"),
    ],
)
def test_measurements_that_do_not_belong_together_are_refused(points, values, noise, message):
    with pytest.raises(BadInput, match=message):
        log_marginal_likelihood(SquaredExponential(), points, values, noise)
