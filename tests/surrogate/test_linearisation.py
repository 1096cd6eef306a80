"""Mechanisms as priors: derivatives, the Knorr kernel as a case, saved data, and linearisation against importance sampling."""

import json

import numpy as np
import pyomo.environ as pyo
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.surrogate.kernel_sums import sections
from tcbo_pyomo.surrogate.kernels import kernel_from_dict
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.mechanism import Mechanism
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum
from tcbo_pyomo.surrogate.linearisation import relinearised
from tcbo_pyomo.surrogate.shares import contributions, known_parts, mechanism_and_residual, weight_posterior

AXES = (Coordinate("time", 0.0, 10.0, "minute"), Coordinate("temperature", 300.0, 350.0, "K"))


def decay(x, theta):
    """A first-order product that decays again at a rate which depends on the temperature."""
    rate = theta["k"] * pyo.exp(theta["e"] * (x["temperature"] - 325.0) / 25.0)
    return theta["size"] * (1.0 - pyo.exp(-rate * x["time"]))


class Decay:
    """The same, as numbers with derivatives."""

    def value(self, x, theta):
        return theta["size"] * (1.0 - np.exp(-self._extent(x, theta)))

    def theta_gradient(self, x, theta):
        extent = self._extent(x, theta)
        left = theta["size"] * np.exp(-extent) * extent
        warm = (x["temperature"] - 325.0) / 25.0
        return {"size": 1.0 - np.exp(-extent), "k": left / theta["k"], "e": left * warm}

    @staticmethod
    def _extent(x, theta):
        return theta["k"] * np.exp(theta["e"] * (x["temperature"] - 325.0) / 25.0) * x["time"]

    def __call__(self):
        return self


def product(x, theta):
    return theta["weight"] * ReactionKinetics().feature_expression([x["time"] / 40.0 - 0.5, x["ratio"] - 0.5])


ESTIMATE = {"k": 0.3, "e": 0.5, "size": 1.0}
COVARIANCE = np.array([[0.01, 0.004, 0.0], [0.004, 0.04, 0.0], [0.0, 0.0, 0.02]])
MECHANISM = Mechanism.from_estimate(decay, ESTIMATE, COVARIANCE, AXES)


def test_derivatives_are_those_of_differences(points, differences):
    kernel = MECHANISM.at((0.35, 0.4, 1.1))
    np.testing.assert_allclose(kernel.features_gradient(points), differences(kernel.features, points), atol=1e-8)
    np.testing.assert_allclose(kernel.features_hessian(points), differences(kernel.features_gradient, points), atol=1e-7)
    np.testing.assert_allclose(kernel.mean_gradient(points), differences(kernel.mean, points), atol=1e-8)
    weights = np.linspace(-1.0, 1.0, len(points))
    jet = sections(kernel, points).jet(points, weights)
    np.testing.assert_allclose(jet.value, kernel(points, points) @ weights, atol=1e-12)
    np.testing.assert_allclose(jet.hessian, np.einsum("nmde,m->nde", kernel.hessian(points, points), weights), atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(points), np.diag(kernel(points, points)), atol=1e-12)


def test_a_class_with_derivatives_gives_the_same_as_the_formula(points):
    numeric = Mechanism.from_estimate(Decay, ESTIMATE, COVARIANCE, AXES)
    np.testing.assert_allclose(numeric(points, points), MECHANISM(points, points), atol=1e-13)
    np.testing.assert_allclose(numeric.features_gradient(points), MECHANISM.features_gradient(points), atol=1e-7)
    np.testing.assert_allclose(numeric.features_hessian(points), MECHANISM.features_hessian(points), atol=1e-4)


def test_the_pyomo_formula_has_the_same_numbers(points):
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1])
    weights = np.linspace(-1.0, 1.0, len(points))
    formula = MECHANISM.expression([model.x[0], model.x[1]], points, weights)
    for point, expected in zip(points, MECHANISM(points, points) @ weights, strict=True):
        model.x[0].value, model.x[1].value = point
        assert pyo.value(formula) == pytest.approx(expected, abs=1e-12)


def test_the_knorr_kernel_is_one_case(grid):
    axes = (Coordinate("time", 0.0, 40.0), Coordinate("ratio", 0.0, 1.0))
    kernel, known = Mechanism.from_estimate(product, {"weight": 0.6}, [[0.0225]], axes), ReactionKinetics()
    np.testing.assert_allclose(kernel(grid, grid), known(grid, grid), atol=1e-10)
    np.testing.assert_allclose(kernel.mean(grid), known.mean(grid), atol=1e-10)
    np.testing.assert_allclose(kernel.gradient(grid, grid[:5]), known.gradient(grid, grid[:5]), atol=1e-10)
    np.testing.assert_allclose(kernel.hessian(grid, grid[:5]), known.hessian(grid, grid[:5]), atol=1e-9)


def test_saved_data_finds_the_function_again(points):
    data = json.loads(json.dumps(Sum((MECHANISM.at((0.4, 0.5, 1.0)), SquaredExponential())).to_dict()))
    assert data["kernels"][0]["response"].endswith("test_linearisation:decay")
    again = kernel_from_dict(data)
    assert again == Sum((MECHANISM.at((0.4, 0.5, 1.0)), SquaredExponential()))


def test_linearisation_agrees_with_importance_sampling():
    generator = np.random.default_rng(3)
    points = generator.uniform(-0.5, 0.5, (14, 2))
    kernel = Sum((MECHANISM, SquaredExponential(0.001, 0.3)))
    truth = MECHANISM.at((0.52, 0.8, 0.9))
    exact = lambda mechanism, at: mechanism.response.stack(  # noqa: E731
        np.array(AXES[0].lower) + (at + 0.5) * [10.0, 50.0] + [0.0, 300.0],
        dict(zip(mechanism.theta_names, mechanism.linearisation.tolist(), strict=True)),
        {"time": 10.0, "temperature": 50.0},
        0,
    )[:, 0]
    noise = np.full(14, 4e-4)
    values = exact(truth, points) + 0.02 * generator.standard_normal(14)
    found = relinearised(kernel, points, values, noise)
    assert found == relinearised(found, points, values, noise), "a pure function of the declared prior and the results"
    (mean, covariance), = weight_posterior(known_parts(found), found, points, values, noise)
    # Independent: the exact mechanism, weighted samples from twice the linearised covariance.
    draws = generator.multivariate_normal(mean, 2.0 * covariance, 6000)
    matrix = np.linalg.inv(SquaredExponential(0.001, 0.3)(points, points) + np.diag(noise))
    gaps = draws - np.array(list(ESTIMATE.values()))
    wrong = np.array([values - exact(MECHANISM.at(draw), points) for draw in draws])
    proposal = draws - mean
    logarithm = -0.5 * np.einsum("ni,ij,nj->n", gaps, np.linalg.inv(COVARIANCE), gaps)
    logarithm -= 0.5 * np.einsum("ni,ij,nj->n", wrong, matrix, wrong)
    logarithm += 0.25 * np.einsum("ni,ij,nj->n", proposal, np.linalg.inv(covariance), proposal)
    weights = np.exp(logarithm - logarithm.max())
    weights /= weights.sum()
    sampled = weights @ draws
    deviation = np.sqrt(weights @ (draws - sampled) ** 2)
    np.testing.assert_array_less(np.abs(mean - sampled), 0.5 * deviation)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), deviation, rtol=0.25)
    (once, _), = weight_posterior(known_parts(kernel), kernel, points, values, noise)
    assert np.abs((once - sampled) / deviation).max() > 2 * np.abs((mean - sampled) / deviation).max()


def test_contributions_add_up_to_the_posterior_mean(points):
    kernel, noise = MECHANISM + 2.0 * (SquaredExponential(0.01, 0.3) + Constant(0.1, 0.2)), np.full(len(points), 0.01)
    values, at = np.sin(points.sum(axis=1)), np.array([[0.1, 0.2], [-0.3, 0.4]])
    matrix = kernel(points, points) + np.diag(noise)
    mean = kernel.mean(at) + kernel(at, points) @ np.linalg.solve(matrix, values - kernel.mean(points))
    known, rest = mechanism_and_residual(kernel, points, values, noise, at)
    np.testing.assert_allclose(known.mean + rest.mean, mean, atol=1e-12)
    assert mechanism_and_residual(SquaredExponential(), points, values, noise, at) is None
    alone, nothing = mechanism_and_residual(ReactionKinetics(), points, values, noise, at)
    assert not nothing.mean.any() and not nothing.deviation.any() and alone.mean.any()


def test_parts_are_those_of_a_joint_gaussian(points):
    """Independent: condition the joint normal of the weight, both parts and the results."""
    smooth, known = SquaredExponential(0.02, 0.3), ReactionKinetics()
    kernel, noise, values = 1.5 * known + smooth, np.full(len(points), 0.01), np.cos(3.0 * points[:, 0])
    at = np.array([[0.2, -0.1]])
    size, y = np.sqrt(1.5), known.feature(np.vstack([points, at]))
    # Rows: weight, mechanism at the point, residual at the point, results.
    shape = np.zeros((3 + len(points), 1))
    shape[0], shape[1], shape[3:, 0] = 1.0, size * y[-1], size * y[:-1]
    joint = known.weight_variance * shape @ shape.T
    places = np.vstack([at, points])
    joint[2:, 2:] += smooth(places, places)
    joint[3:, 3:] += np.diag(noise)
    gain = joint[:3, 3:] @ np.linalg.inv(joint[3:, 3:])
    mean = known.weight_mean * shape[:3, 0] + gain @ (values - known.weight_mean * shape[3:, 0])
    sd = np.sqrt(np.diag(joint[:3, :3] - gain @ joint[3:, :3]))
    ((weight, covariance),) = weight_posterior(known_parts(kernel), kernel, points, values, noise)
    parts = mechanism_and_residual(kernel, points, values, noise, at)
    np.testing.assert_allclose([weight[0], *(part.mean[0] for part in parts)], mean, atol=1e-9)
    np.testing.assert_allclose([np.sqrt(covariance[0, 0]), *(part.deviation[0] for part in parts)], sd, atol=1e-9)
    given = contributions([1.5 * known, smooth], points, values, noise, at)
    assert [part.mean[0] for part in given] == pytest.approx([part.mean[0] for part in parts])


def test_wrong_input_is_one_line(points):
    with pytest.raises(BadInput, match=r"covariance .* must be symmetric"):
        Mechanism.from_estimate(decay, ESTIMATE, COVARIANCE + np.triu(np.ones((3, 3)), 1), AXES)
    with pytest.raises(BadInput, match="fails for Pyomo variables"):
        Mechanism.from_estimate(decay, {"k": 1.0}, [[1.0]], AXES).mean(points)
