"""Michalewicz3D (section 5.4): as Michalewicz2D, in three dimensions."""

from __future__ import annotations

from tcbo_pyomo.library._synthetic import synthetic_problem
from tcbo_pyomo.library.michalewicz2d import michalewicz
from tcbo_pyomo.problem.continuous import ContinuousProblem

DESCRIPTION = "Michalewicz function in three dimensions, moves of at most 0.1 per coordinate (section 5.4)"


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `seed` is not needed here. Box, variance and lengthscale: the paper's benchmark table."""
    return synthetic_problem("michalewicz3d", DESCRIPTION, michalewicz, 3, 1.672843, 0.1, 0.85, 0.179485, feedback)
