"""Levy4D (section 5.4): many local maxima around one global one; scaled as in the authors' experiments."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.library._synthetic import synthetic_problem
from tcbo_pyomo.problem.continuous import ContinuousProblem

DESCRIPTION = "Levy function in four dimensions, moves of at most 0.1 per coordinate (section 5.4)"


def levy(u: Array) -> Array:
    """1 - Levy(x) / 400 with x = 16 (u - 0.5), at n x 4 points of the unit cube."""
    w = 1.0 + (16.0 * (u - 0.5) - 1.0) / 4.0
    first = np.sin(np.pi * w[:, 0]) ** 2
    middle = ((w[:, :-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:, :-1] + 1.0) ** 2)).sum(axis=1)
    last = (w[:, -1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[:, -1]) ** 2)
    return 1.0 - (first + middle + last) / 400.0


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `seed` is not needed here. Box, variance and lengthscale: the paper's benchmark table."""
    return synthetic_problem("levy4d", DESCRIPTION, levy, 4, 1.0, 0.1, 0.6, 0.14175, feedback)
