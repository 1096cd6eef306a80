"""Exact features reproduce the kernel on the states."""

from __future__ import annotations

import numpy as np
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.features import exact_factor
from tcbo_pyomo.surrogate.features.exact import quick_factor
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


@pytest.mark.parametrize("made", [exact_factor, quick_factor])
def test_factor_reproduces_the_kernel(made, kernel, grid):
    factor = made(kernel, grid)
    assert factor.shape[0] == 121 and factor.shape[1] <= 121
    covariance = kernel(grid, grid)
    np.testing.assert_allclose(factor @ factor.T, covariance, atol=1e-12 * np.abs(covariance).max())


def test_directions_of_mere_rounding_are_dropped(grid):
    assert exact_factor(ReactionKinetics(), grid).shape == (121, 1)
    assert exact_factor(SquaredExponential(1.0, 5.0), grid).shape[1] < 40
    assert exact_factor(SquaredExponential(1.0, 0.1), grid).shape[1] == 121


def test_equal_points_are_allowed(points):
    twice = np.vstack([points, points])
    factor = exact_factor(SquaredExponential(1.0, 0.1), twice)
    assert factor.shape[1] == 9
    np.testing.assert_allclose(factor[:9], factor[9:], atol=1e-13)


@pytest.mark.parametrize("made", [exact_factor, quick_factor])
def test_states_that_are_not_numbers_are_refused(made):
    with pytest.raises(BadInput, match="values that are not finite"):
        made(SquaredExponential(), np.array([[0.0], [np.nan]]))
