"""Hartmann3D (section 5.4): four bumps, one global maximum; positive sign. Constants: Dixon and Szego 1978."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.library._synthetic import synthetic_problem
from tcbo_pyomo.problem.continuous import ContinuousProblem

DESCRIPTION = "Hartmann function in three dimensions, moves of at most 0.1 per coordinate (section 5.4)"

HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
WIDTHS = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
CENTERS = 1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])


def hartmann(u: Array, widths: Array = WIDTHS, centers: Array = CENTERS) -> Array:
    """The function at n x d points of the unit cube."""
    exponents = (widths * (u[:, None, :] - centers) ** 2).sum(axis=2)
    return np.exp(-exponents) @ HEIGHTS


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `seed` is not needed here. Box, variance and lengthscale: the paper's benchmark table."""
    return synthetic_problem("hartmann3d", DESCRIPTION, hartmann, 3, 3.86278, 0.1, 2.0, 0.13849, feedback)
