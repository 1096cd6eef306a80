"""Values and derivatives of all kernels: scikit-learn's values, finite differences for every derivative."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.matern_three_halves import MaternThreeHalves
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum

STATIONARY = [SquaredExponential, MaternThreeHalves, MaternFiveHalves]


@pytest.mark.parametrize("lengthscale", [0.3, (0.2, 0.7)])
def test_values_equal_scikit_learn(points, lengthscale):
    left, right = points[:4], points[2:]
    scale = np.array(lengthscale)
    for ours, theirs in (
        (SquaredExponential(1.7, lengthscale), RBF(scale)),
        (MaternThreeHalves(1.7, lengthscale), Matern(scale, nu=1.5)),
        (MaternFiveHalves(1.7, lengthscale), Matern(scale, nu=2.5)),
    ):
        np.testing.assert_allclose(ours(left, right), 1.7 * theirs(left, right), rtol=1e-13)


def test_diagonal_is_the_diagonal_and_the_matrix_is_positive_semi_definite(kernel, points):
    covariance = kernel(points, points)
    np.testing.assert_allclose(kernel.diagonal(points), np.diag(covariance), rtol=1e-14)
    np.testing.assert_array_equal(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance).min() > -1e-13


def test_gradient_and_hessian_equal_finite_differences(kernel, points, differences):
    right = points[::2] + 0.01
    gradient, hessian = kernel.gradient(points, right), kernel.hessian(points, right)
    assert gradient.shape == (9, 5, 2) and hessian.shape == (9, 5, 2, 2)
    numeric = differences(lambda x: kernel(x, right), points)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7 * np.abs(numeric).max())
    numeric = differences(lambda x: kernel.gradient(x, right), points)
    np.testing.assert_allclose(hessian, numeric, rtol=1e-5, atol=1e-5 * np.abs(numeric).max())


def test_mean_derivatives_equal_finite_differences(kernel, points, differences):
    numeric = differences(kernel.mean, points)
    np.testing.assert_allclose(kernel.mean_gradient(points), numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("class_", STATIONARY)
def test_derivatives_are_exact_where_points_coincide(class_, points):
    # At r = 0 the gradient is 0 and the Hessian -c variance / lengthscale^2 with c = 1, 3 and 5/3.
    expected = {SquaredExponential: 1.0, MaternThreeHalves: 3.0, MaternFiveHalves: 5.0 / 3.0}[class_]
    kernel = class_(2.0, (0.2, 0.5))
    point = points[:1]
    np.testing.assert_array_equal(kernel.gradient(point, point), np.zeros((1, 1, 2)))
    curvature = np.diag([-expected * 2.0 / 0.2**2, -expected * 2.0 / 0.5**2])
    np.testing.assert_allclose(kernel.hessian(point, point)[0, 0], curvature, rtol=1e-14)
    nearby = point + 1e-12
    np.testing.assert_allclose(kernel.hessian(nearby, point)[0, 0], curvature, rtol=1e-9, atol=1e-9)


def test_sum_adds_and_scaled_multiplies_means_by_the_root(points):
    reaction, smooth = ReactionKinetics(), SquaredExponential(0.4, 0.3)
    total, scaled = Sum((reaction, smooth, reaction)), Scaled(4.0, reaction)
    np.testing.assert_allclose(total(points, points), 2 * reaction(points, points) + smooth(points, points))
    np.testing.assert_allclose(total.mean(points), 2 * reaction.mean(points))
    np.testing.assert_allclose(scaled(points, points), 4.0 * reaction(points, points))
    np.testing.assert_allclose(scaled.mean(points), 2.0 * reaction.mean(points))
    np.testing.assert_array_equal(smooth.mean(points), np.zeros(9))
    # The mean of 2 w y is twice the mean of w y when the weight w has the mean 0.6.
    np.testing.assert_allclose(
        scaled.mean(points), 2.0 * 0.6 * math.sqrt(1 / 0.0225) * np.sqrt(reaction.diagonal(points))
    )


def test_half_the_slope_of_the_variance(kernel, points):
    step = 1e-6
    for axis in range(points.shape[1]):
        shift = step * np.eye(points.shape[1])[axis]
        slope = (kernel.diagonal(points + shift) - kernel.diagonal(points - shift)) / (2.0 * step)
        np.testing.assert_allclose(kernel.half_diagonal_gradient(points)[:, axis], 0.5 * slope, rtol=1e-5, atol=1e-7)
    generic = Kernel.half_diagonal_gradient(kernel, points)
    np.testing.assert_allclose(kernel.half_diagonal_gradient(points), generic, rtol=1e-9, atol=1e-12)
