"""Sums of kernels: values against the kernel itself, derivatives against finite differences and the kernel's own."""

from __future__ import annotations

import numpy as np
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.expansion import KernelExpansion
from tcbo_pyomo.surrogate.kernel_sums import Sections, sections
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.matern_three_halves import MaternThreeHalves
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum

KERNELS = [
    SquaredExponential(1.3, 0.2),
    SquaredExponential(0.7, (0.15, 0.4)),
    MaternThreeHalves(1.3, 0.3),
    MaternFiveHalves(0.5, (0.2, 0.3)),
    ReactionKinetics(0.6, 0.0225),
    Sum((ReactionKinetics(0.6, 0.0225), SquaredExponential(0.001, 0.1))),
    Scaled(2.5, Sum((ReactionKinetics(), Scaled(0.5, MaternFiveHalves(0.3, 0.3))))),
]
STEP = 1e-5


def expansion(kernel, number=40, functions=3, dimension=2, seed=0):
    generator = np.random.default_rng(seed)
    centers = generator.random((number, dimension)) - 0.5
    return KernelExpansion(kernel, centers, generator.standard_normal((number, functions)))


def gradient_of(functions, function, where):
    return functions.value_and_gradient(where, np.full(len(where), function))[1]


def points(number=7, dimension=2, seed=1):
    return 0.9 * (np.random.default_rng(seed).random((number, dimension)) - 0.5)


def differences(function, where):
    """Central differences of an array-valued function of points, derivatives last."""
    steps = STEP * np.eye(where.shape[1])
    return np.stack([(function(where + step) - function(where - step)) / (2 * STEP) for step in steps], axis=-1)


@pytest.mark.parametrize("kernel", KERNELS)
def test_value_is_the_weighted_sum_of_kernels(kernel):
    functions = expansion(kernel)
    expected = kernel(points(), functions.centers) @ functions.weights
    np.testing.assert_allclose(functions.value(points()), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_and_hessian_agree_with_differences(kernel):
    functions, where = expansion(kernel), points()
    gradient = gradient_of(functions, 2, where)
    numeric = differences(lambda x: functions.value(x)[:, 2], where)
    np.testing.assert_allclose(gradient, numeric, atol=1e-6 * np.abs(gradient).max())
    jet = functions.sections.jet(where, functions.weights[:, 2])
    np.testing.assert_allclose(jet.value, functions.value(where)[:, 2], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(jet.gradient, gradient, atol=1e-11 * np.abs(gradient).max())
    hessian = differences(lambda x: gradient_of(functions, 2, x), where)
    np.testing.assert_allclose(jet.hessian, hessian, atol=1e-6 * np.abs(hessian).max())


@pytest.mark.parametrize("kernel", KERNELS)
def test_fast_sums_equal_the_kernels_own_derivatives_also_at_a_center(kernel):
    """`Sections` knows nothing but the kernel's own derivatives; each point may have weights of its own."""
    generator = np.random.default_rng(4)
    centers = generator.random((40, 2)) - 0.5
    where = np.vstack([centers[:3], centers[3] + 1e-9, points()])
    fast, plain = sections(kernel, centers), Sections(kernel, centers)
    rows = generator.standard_normal((len(where), 40))
    for ours, theirs in (
        ([fast(where)], [plain(where)]),
        (fast.value_and_gradient(where, rows), plain.value_and_gradient(where, rows)),
        (fast.jet(where, rows[0]), plain.jet(where, rows[0])),
    ):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())


def test_every_point_may_follow_a_function_of_its_own_in_blocks():
    functions = expansion(SquaredExponential(1.0, 0.2), functions=5, dimension=3)
    where = points(1000, 3)
    owner = np.random.default_rng(2).integers(0, 5, 1000)
    value, gradient = functions.value_and_gradient(where, owner)
    rows = np.arange(1000)
    np.testing.assert_allclose(value, functions.value(where)[rows, owner], rtol=1e-12, atol=1e-12)
    each = np.stack([gradient_of(functions, i, where) for i in range(5)], axis=1)
    np.testing.assert_allclose(gradient, each[rows, owner], rtol=1e-10, atol=1e-12)


def test_one_function_may_come_without_a_column():
    functions = KernelExpansion(SquaredExponential(), np.zeros((1, 2)), np.array([2.0]))
    assert functions.count == 1
    np.testing.assert_allclose(functions.value(np.zeros((1, 2))), [[2.0]])


def test_no_centers_is_the_zero_function():
    functions = KernelExpansion(SquaredExponential(), np.empty((0, 2)), np.empty((0, 3)))
    value, gradient = functions.value_and_gradient(points(), np.zeros(7, dtype=int))
    assert not value.any() and not gradient.any()
    assert functions.value(points()).shape == (7, 3)


def test_mismatched_weights_are_refused():
    with pytest.raises(BadInput, match="must be m x d and m x k"):
        KernelExpansion(SquaredExponential(), np.zeros((3, 2)), np.zeros((2, 1)))
