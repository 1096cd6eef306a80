"""Branin2D (section 5.4): three equal maxima, rescaled to unit variance (Picheny et al. 2013), positive sign."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.library._synthetic import synthetic_problem
from tcbo_pyomo.problem.continuous import ContinuousProblem

DESCRIPTION = "Branin function in two dimensions, moves of at most 0.05 per coordinate (section 5.4)"


def branin(u: Array) -> Array:
    """The function at n x 2 points of the unit square."""
    a, b = 15.0 * u[:, 0] - 5.0, 15.0 * u[:, 1]
    ridge = b - 5.1 * a**2 / (4.0 * np.pi**2) + 5.0 * a / np.pi - 6.0
    return -(ridge**2 + (10.0 - 10.0 / (8.0 * np.pi)) * np.cos(a) - 44.81) / 51.95


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `seed` is not needed here. Box, variance and lengthscale: the paper's benchmark table."""
    return synthetic_problem("branin2d", DESCRIPTION, branin, 2, 1.047394, 0.05, 0.6, 0.15, feedback)
