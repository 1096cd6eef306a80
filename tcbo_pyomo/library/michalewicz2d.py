"""Michalewicz2D (section 5.4): narrow valleys. In the authors' experiments the coordinate inside is not squared."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.library._synthetic import synthetic_problem
from tcbo_pyomo.problem.continuous import ContinuousProblem

DESCRIPTION = "Michalewicz function in two dimensions, moves of at most 0.05 per coordinate (section 5.4)"


def michalewicz(u: Array) -> Array:
    """sum_i sin(pi u_i) sin(i u_i)^20 at n x d points of the unit cube."""
    order = np.arange(1, u.shape[1] + 1)
    return (np.sin(np.pi * u) * np.sin(order * u) ** 20).sum(axis=1)


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `seed` is not needed here. Box, variance and lengthscale: the paper's benchmark table."""
    return synthetic_problem("michalewicz2d", DESCRIPTION, michalewicz, 2, 0.675447, 0.05, 0.35, 0.179485, feedback)
