"""The linearised utility in closed form: known values, derivatives, and the explicit Pyomo formula."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from continuous_plants import KERNELS, PLANE

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.trajectory import build_trajectory
from tcbo_pyomo.planning.continuous.information_objective import InformationObjective
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


@pytest.fixture(params=KERNELS.values(), ids=list(KERNELS))
def kernel(request: pytest.FixtureRequest) -> Kernel:
    return request.param


def random_objective(kernel: Kernel, seed: int = 0) -> tuple[InformationObjective, np.ndarray]:
    generator = np.random.default_rng(seed)
    centers = generator.uniform(-0.5, 0.5, (7, 2))
    objective = InformationObjective(kernel, centers, generator.normal(size=7), 0.3)
    points = generator.uniform(-0.45, 0.45, (6, 2))
    return objective, points


def test_value_is_minus_the_squared_covariance_over_noise(kernel: Kernel) -> None:
    objective, points = random_objective(kernel)
    covariance = kernel(points, objective.centers) @ objective.weights
    assert objective.value(points) == pytest.approx(-(covariance**2).sum() / 0.3, rel=1e-10)


def test_the_remark_of_the_appendix() -> None:
    """- (Cov[f(z), f(x)] - Cov[f(z'), f(x)])^2 / sigma^2, from the posterior covariance itself."""
    kernel, noise = SquaredExponential(1.0, 0.3), 0.05
    generator = np.random.default_rng(3)
    data, pair, points = (generator.uniform(-0.5, 0.5, (n, 2)) for n in (5, 2, 4))
    gram = kernel(data, data) + noise * np.eye(5)
    posterior = kernel(pair, points) - kernel(pair, data) @ np.linalg.solve(gram, kernel(data, points))
    weights = -np.linalg.solve(gram, kernel(data, pair) @ np.array([1.0, -1.0]))
    objective = InformationObjective(kernel, np.vstack([pair, data]), np.r_[1.0, -1.0, weights], noise)
    assert objective.value(points) == pytest.approx(-((posterior[0] - posterior[1]) ** 2).sum() / noise)


def test_derivatives_agree_with_finite_differences(kernel: Kernel) -> None:
    objective, points = random_objective(kernel)
    gradient, hessian, step = objective.gradient(points), objective.hessian(points), 1e-6
    for row in range(len(points)):
        for axis in range(2):
            ahead, behind = points.copy(), points.copy()
            ahead[row, axis] += step
            behind[row, axis] -= step
            slope = (objective.value(ahead) - objective.value(behind)) / (2 * step)
            assert gradient[row, axis] == pytest.approx(slope, rel=1e-5, abs=1e-6 * np.abs(gradient).max())
            bend = (objective.gradient(ahead) - objective.gradient(behind))[row] / (2 * step)
            np.testing.assert_allclose(hessian[row, axis], bend, rtol=1e-4, atol=1e-6 * np.abs(hessian).max())


def test_explicit_pyomo_expression_has_the_same_value(kernel: Kernel) -> None:
    objective, points = random_objective(kernel, seed=2)
    points[0] = objective.centers[0]
    model = build_trajectory(PLANE, LinearDynamics.free_moves(2, BoxActions(0.1)), np.zeros(2), len(points))
    expression = objective.expression(model, range(1, len(points) + 1))
    for step, point in enumerate(points, start=1):
        for name, value in zip(model.COORDINATES, point, strict=True):
            model.state[step, name].set_value(float(value))
    assert pyo.value(expression) == pytest.approx(objective.value(points), rel=1e-8)


@pytest.mark.parametrize(
    ("centers", "weights", "noise", "message"),
    [
        (np.zeros((2, 2)), np.ones(3), 1.0, "must be m x d and m"),
        (np.zeros((2, 2)), np.array([1.0, np.nan]), 1.0, "must be finite"),
        (np.zeros((2, 2)), np.ones(2), 0.0, "noise_variance 0.0 must be positive"),
    ],
)
def test_bad_input(centers: np.ndarray, weights: np.ndarray, noise: float, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        InformationObjective(SquaredExponential(), centers, weights, noise)
