"""Distances between many points: SciPy's where it is loaded, else the same sums in NumPy.

Loading SciPy's distances takes longer than most commands that only look at a campaign. Both give the same numbers, bit for bit
(the squares are summed in the order of the axes); whatever plans loads SciPy's, which is faster on many points.
"""

from __future__ import annotations

import sys

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

FEW = 2_000_000
"""Distances up to which NumPy does not take longer than loading SciPy's."""


def distances(left: Array, right: Array) -> Array:
    """Euclidean distances of n x d from m x d points, n x m."""
    if "scipy.spatial.distance" in sys.modules or len(left) * len(right) > FEW:
        from scipy.spatial.distance import cdist

        found: Array = cdist(left, right)
        return found
    total = np.zeros((len(left), len(right)))
    for one, other in zip(np.asarray(left, dtype=float).T, np.asarray(right, dtype=float).T, strict=True):
        difference = one[:, None] - other
        total += difference * difference
    return np.sqrt(total)
