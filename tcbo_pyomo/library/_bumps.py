"""What several systems of our own share: a black box that is a sum of round bumps, so that its hills are known by heart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

Bump = tuple[tuple[float, float], float, float]
"""Centre, width and height."""


def sum_of_bumps(points: Array, bumps: Sequence[Bump]) -> Array:
    """sum_i h_i exp(-|x - c_i|^2 / (2 w_i^2)) at n x 2 points."""
    squares = [((points - np.array(centre)) ** 2).sum(axis=1) / width**2 for centre, width, _ in bumps]
    return np.sum([height * np.exp(-0.5 * s) for s, (_, _, height) in zip(squares, bumps, strict=True)], axis=0)
