from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.matern_three_halves import MaternThreeHalves
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum

KNORR = Sum((ReactionKinetics(), SquaredExponential(0.001, 0.1)))
KERNELS = {
    "squared_exponential": SquaredExponential(1.3, 0.2),
    "squared_exponential per dimension": SquaredExponential(0.7, (0.15, 0.4)),
    "matern_three_halves": MaternThreeHalves(0.9, (0.3, 0.2)),
    "matern_five_halves": MaternFiveHalves(1.1, 0.25),
    "reaction_kinetics": ReactionKinetics(reactants=(0.1, 0.2), water=(0.0, 3.0), k3=900.0),
    "constant": Constant(2.0, 0.4),
    "sum": KNORR,
    "unknown level": Sum((SquaredExponential(0.7, (0.15, 0.4)), Constant(1.5, 0.3))),
    "scaled": Scaled(2.5, Sum((ReactionKinetics(), Scaled(0.5, MaternFiveHalves(0.3, 0.3))))),
}


@pytest.fixture(params=KERNELS.values(), ids=list(KERNELS))
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """Every kernel, in the square."""
    return request.param


@pytest.fixture
def knorr() -> Kernel:
    """The surrogate of the Knorr pyrazole synthesis."""
    return KNORR


@pytest.fixture
def points() -> Array:
    """Nine points inside the square, with residence times long enough for finite differences."""
    return np.random.default_rng(5).uniform(-0.45, 0.5, (9, 2))


@pytest.fixture
def grid() -> Array:
    """The 11 x 11 states of the Knorr pyrazole synthesis, scaled."""
    axis = np.linspace(-0.5, 0.5, 11)
    return np.array([(time, ratio) for time in axis for ratio in axis])


@pytest.fixture
def differences() -> Callable[[Callable[[Array], Array], Array], Array]:
    """Derivatives of a function of n points by a five-point stencil; the coordinate is the last axis."""

    def derivative(function: Callable[[Array], Array], at: Array, step: float = 2e-4) -> Array:
        columns = []
        for unit in np.eye(at.shape[1]) * step:
            near = function(at + unit) - function(at - unit)
            far = function(at + 2 * unit) - function(at - 2 * unit)
            columns.append((8 * near - far) / (12 * step))
        return np.stack(columns, axis=-1)

    return derivative
