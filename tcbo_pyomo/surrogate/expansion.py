"""Many functions x -> sum_j w_j k(x, c_j) with the same centres at once, as a search for their maxima needs them."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.surrogate.kernel_sums import sections
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

ROWS = 256
"""Points are treated in blocks of so many rows, so that a block of kernel values stays in the processor's cache."""


class KernelExpansion:
    """k functions x -> sum_j weights[j, i] k(x, centers[j]) at once.

    Parameters
    ----------
    kernel
        Any kernel; its prior mean plays no part here.
    centers
        m x d scaled points.
    weights
        m x k, one column per function; m alone for one function.
    """

    def __init__(self, kernel: Kernel, centers: Array, weights: Array) -> None:
        self.kernel = kernel
        self.centers = centers
        self.weights = weights if weights.ndim == 2 else weights[:, None]
        if centers.ndim != 2 or len(self.weights) != len(centers):
            raise BadInput(f"centers {centers.shape} and weights {weights.shape} must be m x d and m x k")
        self.sections = sections(kernel, centers)
        self._weights_by_function = np.ascontiguousarray(self.weights.T)

    @property
    def count(self) -> int:
        """k, the number of functions."""
        return self.weights.shape[1]

    def times(self, factor: float) -> KernelExpansion:
        """All functions times a factor."""
        return self if factor == 1.0 else KernelExpansion(self.kernel, self.centers, factor * self.weights)

    def value(self, points: Array) -> Array:
        """All functions at n points, n x k."""
        return self.sections(points) @ self.weights

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """Function `owner[i]` at point i: values (n) and gradients (n x d).

        This is what a search needs that follows every function from starts of its own.
        """
        value, gradient = np.empty(len(points)), np.empty(points.shape)
        for first in range(0, len(points), ROWS):
            rows = slice(first, first + ROWS)
            weights = self._weights_by_function[owner[rows]]
            value[rows], gradient[rows] = self.sections.value_and_gradient(points[rows], weights)
        return value, gradient
