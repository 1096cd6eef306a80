"""Places so close that the prior holds them for alike: where many stand together they count as one.

A sum over places bounds the maximum over them, and counts a crowd of alike places as often as it has members. States on a
grid are not crowded. The rows of a table often are: a slow ramp leaves dozens of them where the answer hardly changes, and a
few where it changes most.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernel_factors import split
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

ALIKE = 0.97
"""Correlation from which on two places are alike: about a quarter of a lengthscale apart."""
MOST_PLACES = 2000
"""More places are a grid and no table (`problem/replay.py`)."""


def independent_shares(kernel: Kernel, points: Array) -> Array:
    """For each of n points (n x d) one divided by the number of points that are alike, itself included.

    By the stationary parts of the kernel: what knows its shape says nothing about distances.
    """
    parts, _ = split(kernel)
    number = len(points)
    if not parts or number > MOST_PLACES:
        return np.ones(number)
    variance = sum(factor * part.variance for factor, part in parts)
    covariance = sum((factor * part(points, points) for factor, part in parts), np.zeros((number, number)))
    return np.asarray(1.0 / (covariance >= ALIKE * variance).sum(axis=1))
