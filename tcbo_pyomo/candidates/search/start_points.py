"""Where to start searches for global maxima: the tops of a survey of the box.

All functions are evaluated on one common set of points. Those not below any of their nearest neighbours are tops
(topographical global optimisation, Toern and Viitanen 1994): they lie on different hills, which the highest points
alone do not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, Self

import numpy as np

from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.distances import distances
from tcbo_pyomo.foundation.sobol_points import scrambled_sobol

NEIGHBOURS = 8
STARTS_PER_DIMENSION = 12
"""Tops of each function; where it has fewer, its next highest points follow."""
STRETCH = 1.3
"""Survey points are spread over a box this much larger and moved to the bounds, where many maxima lie in high
dimensions: with as many starts inside the box, searches of 6-D samples missed the best known maximum two to four
times as often."""
EXTRA_STARTS = 8
FEW_POINTS = 2048
"""Up to so many, comparing all pairs takes less time than loading SciPy's tree."""


class Functions(Protocol):
    """K functions on a box, such as posterior samples."""

    @property
    def count(self) -> int:
        """K."""

    def value(self, points: Array) -> Array:
        """All functions at n points, n x K."""

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """Function `owner[i]` at point i: values (n) and gradients (n x d)."""

    def rough(self) -> Self:
        """The same functions, perhaps faster and less exact: for the first part of a search."""


def survey_starts(
    functions: Functions, dimension: int, allowed: Allowed | None = None, extra: Array | None = None
) -> Array:
    """Starts for each of K functions on [-0.5, 0.5]^d, K x S x d.

    Parameters
    ----------
    functions
        K functions.
    dimension
        Number of coordinates d.
    allowed
        Starts where this is False are left out.
    extra
        n x d more points, such as measured ones; the best few for each function become starts too.
    """
    points, neighbours = _survey(dimension)
    values = _values(functions, points, allowed)
    usable = np.isfinite(values[:, 0]).sum()
    if usable == 0:
        raise BadInput(f"none of {len(points)} points spread over the box is allowed; check the forbidden regions")
    is_top = np.ones(values.shape, dtype=bool)
    for column in neighbours.T:
        is_top &= values >= values[column]
    finite = np.isfinite(values)
    reach = np.ptp(values[finite[:, 0]], axis=0) + 1.0
    rank = np.where(is_top & finite, values + reach, values)
    starts = points[_highest(rank, min(STARTS_PER_DIMENSION * dimension, int(usable)))]
    if extra is None or len(extra) == 0:
        return starts
    values = _values(functions, extra, allowed)
    usable = np.isfinite(values[:, 0]).sum()
    return np.concatenate([starts, extra[_highest(values, min(EXTRA_STARTS, int(usable)))]], axis=1)


@lru_cache(maxsize=16)
def _survey(dimension: int) -> tuple[Array, Integers]:
    """Sobol points of the box (N x d), always the same, and each point's nearest neighbours (N x k)."""
    points = np.clip(STRETCH * (scrambled_sobol(dimension, min(8 + dimension, 12)) - 0.5), -0.5, 0.5)
    return points, nearest(points)


def nearest(points: Array) -> Integers:
    """The nearest neighbours of each of n points, n x k in no order."""
    if len(points) <= FEW_POINTS:
        apart = distances(points, points)
        np.fill_diagonal(apart, np.inf)
        return np.argpartition(apart, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS]
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(points).query(points, k=NEIGHBOURS + 1)[1][:, 1:])


def _values(functions: Functions, points: Array, allowed: Allowed | None) -> Array:
    """All functions at n points, n x K; minus infinity where a point is not allowed."""
    values = functions.rough().value(points)
    return values if allowed is None else np.where(allowed(points)[:, None], values, -np.inf)


def _highest(values: Array, number: int) -> Integers:
    """Rows of the `number` largest values of each column, columns x number."""
    if number == 0:
        return np.empty((values.shape[1], 0), dtype=np.intp)
    return np.argpartition(-values, number - 1, axis=0)[:number].T
