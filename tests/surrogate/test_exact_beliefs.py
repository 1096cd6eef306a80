"""Both exact beliefs equal scikit-learn's posterior, with a noise variance per measurement and a prior mean."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Kernel, Matern

from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.features import state_factor
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.matern_three_halves import MaternThreeHalves
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum


def knorr_feature(points: np.ndarray) -> np.ndarray:
    """The paper's formula with eigenvalues -19200 and -1."""
    time, ratio = 40.0 * (points[:, 0] + 0.5), points[:, 1] + 0.5
    profile = 1.0 + (-np.exp(-19200.0 * time) + 19200.0 * np.exp(-time)) / (1.0 - 19200.0)
    share = 1.0 / (1.0 + np.exp(-5.0 * (ratio - 0.5)))
    return profile * ((1.0 - share) * ratio + share * (1.0 - ratio))


class FeatureProduct(DotProduct):
    """scikit-learn's dot product of the reaction feature."""

    def __call__(self, X, Y=None, eval_gradient=False):
        left, right = knorr_feature(X)[:, None], None if Y is None else knorr_feature(Y)[:, None]
        return super().__call__(left, right, eval_gradient)

    def diag(self, X):
        return super().diag(knorr_feature(X)[:, None])


PAIRS = {
    "squared exponential": (SquaredExponential(1.0, 0.2), ConstantKernel(1.0) * RBF(0.2)),
    "per dimension": (SquaredExponential(0.6, (0.15, 0.4)), ConstantKernel(0.6) * RBF([0.15, 0.4])),
    "matern 3/2": (MaternThreeHalves(2.0, 0.4), ConstantKernel(2.0) * Matern(0.4, nu=1.5)),
    "matern 5/2": (MaternFiveHalves(0.5, 0.3), ConstantKernel(0.5) * Matern(0.3, nu=2.5)),
    "scaled sum": (
        Scaled(0.5, Sum((SquaredExponential(1.0, 0.2), MaternFiveHalves(3.0, 0.5)))),
        ConstantKernel(0.5) * (ConstantKernel(1.0) * RBF(0.2) + ConstantKernel(3.0) * Matern(0.5, nu=2.5)),
    ),
    "knorr": (
        None,
        ConstantKernel(0.0225) * FeatureProduct(sigma_0=0.0, sigma_0_bounds="fixed") + ConstantKernel(0.001) * RBF(0.1),
    ),
}


@pytest.fixture(params=PAIRS.values(), ids=list(PAIRS))
def pair(request, knorr):
    ours, theirs = request.param
    return ours or knorr, theirs


@pytest.fixture
def measurements(grid):
    """Forty measurements on the grid, some states twice, noise variances over three decades."""
    generator = np.random.default_rng(11)
    rows = generator.integers(0, 121, 40)
    return rows, generator.normal(0.3, 0.5, 40), 10.0 ** generator.uniform(-4, -1, 40)


def scikit_learn(theirs: Kernel, prior_mean, points, values, noise, where):
    """Posterior mean and deviation of scikit-learn, which knows no prior mean: it is subtracted first."""
    regressor = GaussianProcessRegressor(theirs, alpha=noise, optimizer=None).fit(points, values - prior_mean(points))
    mean, deviation = regressor.predict(where, return_std=True)
    return mean + prior_mean(where), deviation


def on_the_box(kernel, points, values, noise):
    belief = ContinuousBelief(kernel, 2)
    for measurement in zip(points, values, noise, strict=True):
        belief.observe(*measurement)
    return belief


def test_the_exact_belief_on_the_box_equals_scikit_learn(pair, grid, measurements):
    kernel, theirs = pair
    rows, values, noise = measurements
    where = np.vstack([grid, np.random.default_rng(2).uniform(-0.5, 0.5, (30, 2))])
    belief = on_the_box(kernel, grid[rows], values, noise)
    mean, deviation = scikit_learn(theirs, kernel.mean, grid[rows], values, noise, where)
    np.testing.assert_allclose(belief.predict(where), (mean, deviation), atol=1e-8)
    covariance = belief.covariance(where, where)
    np.testing.assert_allclose(np.diag(covariance), belief.variance(where), atol=1e-12)
    np.testing.assert_allclose(belief.covariance(where[:3], where), covariance[:3], atol=1e-13)


def test_belief_on_exact_features_equals_scikit_learn(pair, grid, measurements):
    kernel, theirs = pair
    rows, values, noise = measurements
    belief = FiniteBelief(kernel.mean(grid), state_factor(kernel, grid, "exact", None, np.random.default_rng(0)))
    for row, value, variance in zip(rows, values, noise, strict=True):
        belief.observe(row, value, variance)
    mean, deviation = scikit_learn(theirs, kernel.mean, grid[rows], values, noise, grid)
    np.testing.assert_allclose(belief.predict(range(121)), (mean, deviation), atol=1e-8)
    np.testing.assert_array_equal(belief.mean, belief.predict(range(121))[0])
    np.testing.assert_allclose(belief.standard_deviation, deviation, atol=1e-8)
    np.testing.assert_allclose(belief.predict([7, 3]), (mean[[7, 3]], deviation[[7, 3]]), atol=1e-8)
    covariance = on_the_box(kernel, grid[rows], values, noise).covariance(grid, grid)
    np.testing.assert_allclose(belief.factor @ belief.factor.T, covariance, atol=1e-9)
