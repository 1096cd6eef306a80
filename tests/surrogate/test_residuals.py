"""Leave-one-out residuals equal n regressions with one result left out each."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum
from tcbo_pyomo.surrogate.residuals import leave_one_out


def test_leaving_one_out_equals_a_regression_without_it():
    generator = np.random.default_rng(3)
    points, noise = generator.uniform(-0.5, 0.5, (12, 2)), generator.uniform(0.01, 0.1, 12)
    values = generator.normal(2.0, 1.0, 12)
    found = leave_one_out(Sum((SquaredExponential(0.7, 0.3), Constant(2.0, 0.5))), points, values, noise)
    for i in range(12):
        rest = np.arange(12) != i
        theirs = ConstantKernel(0.7) * RBF(0.3) + ConstantKernel(0.5)
        regressor = GaussianProcessRegressor(theirs, alpha=noise[rest], optimizer=None)
        mean, deviation = regressor.fit(points[rest], values[rest] - 2.0).predict(points[[i]], return_std=True)
        assert found.means[i] == pytest.approx(mean[0] + 2.0)
        assert found.deviations[i] == pytest.approx(np.hypot(deviation[0], np.sqrt(noise[i])))


def test_residuals_of_a_right_model_are_standard_normal_and_covered():
    generator, kernel = np.random.default_rng(4), SquaredExponential(1.0, 0.2)
    points = generator.uniform(-0.5, 0.5, (400, 2))
    covariance = kernel(points, points) + 0.05 * np.eye(400)
    values = np.linalg.cholesky(covariance) @ generator.standard_normal(400)
    found = leave_one_out(kernel, points, values, np.full(400, 0.05))
    assert kstest(found.residuals, "norm").pvalue > 0.01
    assert found.coverage(1.0) == pytest.approx(0.683, abs=0.08)
    assert found.coverage(3.0) > 0.98


def test_no_results_leave_nothing_out():
    assert leave_one_out(SquaredExponential(), np.empty((0, 2)), np.empty(0), np.empty(0)).coverage(2.0) == 1.0


def test_results_without_noise_at_one_place_are_judged_all_the_same():
    found = leave_one_out(SquaredExponential(), np.zeros((3, 2)), np.array([0.0, 0.0, 1.0]), np.full(3, 1e-300))
    assert np.isfinite(found.residuals).all() and np.abs(found.residuals).argmax() == 2
