"""Where a plant can get to within an episode, as searches for maxima see it: handed in, since plans are made further down."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from tcbo_pyomo.candidates.search.start_points import Functions
from tcbo_pyomo.foundation.arrays import Array, Mask


class Maxima(NamedTuple):
    """The best point found for each of K functions (K x d), and its value (K)."""

    points: Array
    values: Array


@runtime_checkable
class ReachableSpace(Protocol):
    """A set of points, each of which some feasible episode passes.

    It can be called as a plain function that says which points are allowed; `global_maxima` and `uniform_points` ask it for
    points that are proven to be reachable instead.
    """

    def __call__(self, points: Array) -> Mask:
        """Which of n scaled points (n x d) may be reachable: every rule allows them, and episodes come close."""

    def maxima(self, functions: Functions, extra: Array | None = None, exact: bool = False) -> Maxima:
        """The best reachable point of each function; see `global_maxima` for the arguments."""

    def draw(self, count: int, generator: np.random.Generator) -> Array:
        """`count` reachable points (count x d), spread over all there are."""
