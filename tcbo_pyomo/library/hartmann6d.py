"""Hartmann6D (section 5.4): four bumps in six dimensions; positive sign. Constants: Dixon and Szego 1978."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.library._synthetic import synthetic_problem
from tcbo_pyomo.library.hartmann3d import hartmann
from tcbo_pyomo.problem.continuous import ContinuousProblem

DESCRIPTION = "Hartmann function in six dimensions, moves of at most 0.2 per coordinate (section 5.4)"

WIDTHS = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
CENTERS = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(u: Array) -> Array:
    """The function at n x 6 points of the unit cube."""
    return hartmann(u, WIDTHS, CENTERS)


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `seed` is not needed here. Box, variance and lengthscale: the paper's benchmark table."""
    return synthetic_problem("hartmann6d", DESCRIPTION, hartmann6, 6, 3.32237, 0.2, 1.7, 0.22, feedback)
