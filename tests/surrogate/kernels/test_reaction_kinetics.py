"""The reaction feature equals a numerical integration of the linearised system, the paper's own check."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import (
    ReactionKinetics,
    conversion,
    eigenvalues,
)


def jacobian(concentrations: np.ndarray, k1: float, k2: float, k3: float) -> np.ndarray:
    """The 5 x 5 Jacobian J of the kinetics at five concentrations."""
    _, y2, y3, y4, y5 = concentrations
    first = np.array([0.0, k1 * y3, k1 * y2, -k2 * y5, -k2 * y4])
    second = np.array([0.0, 0.0, 0.0, k3, 0.0])
    return np.array([second, -first, -first, first - second, first + second])


def jacobian_without_third(k1: float, k2: float, k3: float, reactant: float, water: float) -> np.ndarray:
    """J_1: linearised where y3 is used up, y2 = `reactant` and y5 = `water` (5 x 5)."""
    return jacobian(np.array([0.0, reactant, 0.0, 0.0, water]), k1, k2, k3)


def jacobian_without_second(k1: float, k2: float, k3: float, reactant: float, water: float) -> np.ndarray:
    """J_2: linearised where y2 is used up, y3 = `reactant` and y5 = `water` (5 x 5)."""
    return jacobian(np.array([0.0, 0.0, reactant, 0.0, water]), k1, k2, k3)


def integrated_product(matrix: np.ndarray, ratio: float, times: np.ndarray) -> np.ndarray:
    """y1 of y' = J y from y(0) = (0, 1 - B, B, 0, 0), by a stiff integrator."""
    start = [0.0, 1.0 - ratio, ratio, 0.0, 0.0]
    options = {"method": "LSODA", "jac": lambda time, y: matrix, "rtol": 1e-11, "atol": 1e-14}
    return solve_ivp(lambda time, y: matrix @ y, (0.0, times[-1]), start, t_eval=times, **options).y[0]


@pytest.mark.parametrize(
    "kernel",
    [
        ReactionKinetics(),
        ReactionKinetics(reactants=(0.3, 0.05), water=(0.01, 2.0), k3=50.0, sigmoid_steepness=8.0),
        ReactionKinetics(k1=3.0, k3=0.3),  # b k1 = k3: repeated eigenvalues, which the paper leaves out
    ],
)
def test_feature_equals_integration_of_the_linearised_system(kernel):
    times = np.linspace(0.0, 40.0, 21)
    rates = (kernel.k1, kernel.k2, kernel.k3)
    first = jacobian_without_third(*rates, kernel.reactants[0], kernel.water[0])
    second = jacobian_without_second(*rates, kernel.reactants[1], kernel.water[1])
    for ratio in (0.0, 0.2, 0.5, 0.7, 1.0):
        share = 1.0 / (1.0 + np.exp(-kernel.sigmoid_steepness * (ratio - 0.5)))
        expected = (1.0 - share) * integrated_product(first, ratio, times)
        expected += share * integrated_product(second, ratio, times)
        points = np.column_stack([times / 40.0 - 0.5, np.full(21, ratio - 0.5)])
        np.testing.assert_allclose(kernel.feature(points), expected, atol=1e-9)


def test_feature_is_the_formula_of_the_paper(grid):
    times, ratios = 40.0 * (grid[:, 0] + 0.5), grid[:, 1] + 0.5
    fast, slow = -19200.0, -1.0
    profile = slow / (fast - slow) * np.exp(fast * times) - fast / (fast - slow) * np.exp(slow * times) + 1.0
    share = 1.0 / (1.0 + np.exp(-5.0 * (ratios - 0.5)))
    expected = (1.0 - share) * ratios * profile + share * (1.0 - ratios) * profile
    np.testing.assert_allclose(ReactionKinetics().feature(grid), expected, atol=1e-15)
    np.testing.assert_allclose(ReactionKinetics().mean(grid), 0.6 * expected, atol=1e-15)
    np.testing.assert_allclose(ReactionKinetics()(grid, grid), 0.0225 * np.outer(expected, expected), atol=1e-16)


def test_eigenvalues_of_the_defaults_and_of_the_jacobians():
    assert eigenvalues(10.0, 874.0, 19200.0, 0.1, 0.0) == (-19200.0, -1.0)
    for rates in ((10.0, 874.0, 19200.0, 0.13, 0.7), (3.0, 2.0, 5.0, 1.0, 0.4)):
        fast, slow = eigenvalues(*rates)
        for matrix in (jacobian_without_third(*rates), jacobian_without_second(*rates)):
            np.testing.assert_allclose(np.linalg.eigvals(matrix).real.min(), fast, rtol=1e-12)
            np.testing.assert_allclose(np.sort(np.linalg.eigvals(matrix).real)[1], slow, rtol=1e-8)


def test_jacobian_is_the_derivative_of_the_kinetics():
    k1, k2, k3 = 10.0, 874.0, 19200.0

    def rates(y: np.ndarray) -> np.ndarray:
        first, second = k1 * y[1] * y[2] - k2 * y[3] * y[4], k3 * y[3]
        return np.array([second, -first, -first, first - second, first + second])

    at = np.array([0.1, 0.4, 0.3, 0.02, 0.2])
    # Each rate is at most quadratic, so central differences are exact but for rounding.
    columns = [(rates(at + unit) - rates(at - unit)) / 2e-2 for unit in np.eye(5) * 1e-2]
    np.testing.assert_allclose(jacobian(at, k1, k2, k3), np.column_stack(columns), atol=1e-9)
    assert jacobian_without_third(k1, k2, k3, 0.1, 2.0)[1].tolist() == [0.0, 0.0, -1.0, 1748.0, 0.0]
    assert jacobian_without_second(k1, k2, k3, 0.1, 2.0)[4].tolist() == [0.0, 1.0, 0.0, 19200.0 - 1748.0, 0.0]


def test_conversion_is_smooth_through_repeated_eigenvalues():
    times = np.linspace(0.0, 5.0, 11)
    for near, at in zip(conversion(times, -2.0 - 1e-9, -2.0), conversion(times, -2.0, -2.0), strict=True):
        np.testing.assert_allclose(near, at, atol=1e-8)


def test_axes_and_bounds_are_free(points):
    usual = ReactionKinetics().feature(points)
    wide = np.column_stack([points[:, 1], np.zeros(9), points[:, 0]])
    moved = ReactionKinetics(residence_time_axis=2, ratio_axis=0)
    np.testing.assert_array_equal(moved.feature(wide), usual)
    assert np.all(moved.feature_gradient(wide)[:, 1] == 0.0)
    half = ReactionKinetics(residence_time_lower=10.0, residence_time_upper=30.0, ratio_lower=0.25, ratio_upper=0.75)
    np.testing.assert_allclose(half.feature(points), ReactionKinetics().feature(points / 2.0), rtol=1e-13)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"k3": -1.0}, "kernel 'reaction_kinetics': k3 -1.0 must be a positive finite number"),
        ({"water": (0.0, -1.0)}, r"water \(0.0, -1.0\) must be two finite numbers of at least 0"),
        ({"reactants": (0.1,)}, r"reactants \(0.1,\) must be two numbers, one per linearisation"),
        ({"weight_mean": float("nan")}, "weight_mean nan must be a finite number"),
        ({"weight_variance": 0}, "weight_variance 0 must be a positive finite number"),
        ({"ratio_lower": 1.0}, "ratio_lower 1.0 must be below ratio_upper 1.0"),
        ({"ratio_axis": 0}, "ratio_axis 0 must be another column than residence_time_axis"),
        ({"ratio_axis": -1}, "ratio_axis -1 must be the number of a column, from 0"),
    ],
)
def test_bad_fields_are_refused_by_name(fields, message):
    with pytest.raises(BadInput, match=message):
        ReactionKinetics(**fields)


def test_too_few_coordinates_are_refused():
    with pytest.raises(BadInput, match="ratio_axis 1 must be below 1, the number of coordinates"):
        ReactionKinetics().feature(np.zeros((3, 1)))
