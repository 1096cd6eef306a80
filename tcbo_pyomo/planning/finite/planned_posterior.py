"""Two equal ways to the covariance that the utility needs: finite features, and the general kernel form.

Features (equation "fiez_bo_objective"): with the belief's factor F, where F F^T is the covariance given the history, and
planned information w per state, the covariance is F (I + F^T diag(w) F)^{-1} F^T: an M x M Cholesky factor.

Kernel (appendix, "Objective formulation for general kernel methods"): with D = diag(history + planned information),
k(z, z') - k(z, X) (D^{-1} + k(X, X))^{-1} k(X, z'), over the states X where D is not zero.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg as linalg

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.planning.finite.farthest_pair import TIE, farthest_pair


class FeaturePosterior:
    """Covariance F (I + F^T diag(w) F)^{-1} F^T of the states, F n x M."""

    def __init__(self, factor: Array, information: Array | None = None) -> None:
        self.factor = factor
        self._information = information

    @cached_property
    def _cholesky(self) -> Array | None:
        if self._information is None:
            return None
        visited = np.flatnonzero(self._information)
        rows = self.factor[visited]
        precision = (rows.T * self._information[visited]) @ rows
        precision[np.diag_indices_from(precision)] += 1.0
        return linalg.cholesky(precision, lower=True, check_finite=False)

    @cached_property
    def _all_rows(self) -> Array:
        return self._rows(np.arange(len(self.factor)))

    def _rows(self, states: Integers) -> Array:
        """Vectors whose inner products are the covariances of the given states."""
        if "_all_rows" in self.__dict__:
            return self._all_rows[states]
        rows = self.factor[states]
        if self._cholesky is None:
            return rows
        return linalg.solve_triangular(self._cholesky, rows.T, lower=True, check_finite=False).T

    def farthest(self, candidates: Integers, generator: np.random.Generator) -> tuple[int, int, float]:
        """The two candidate states with the largest variance of their difference, and that variance."""
        first, second, value = farthest_pair(self._rows(candidates), generator)
        return int(candidates[first]), int(candidates[second]), value

    def covariance_with(self, first: int, second: int | None) -> Array:
        """Cov[f(first) - f(second), f(x)] for every state x (n); without `second` Cov[f(first), f(x)]."""
        direction = self.factor[first] if second is None else self.factor[first] - self.factor[second]
        if self._cholesky is not None:
            direction = linalg.cho_solve((self._cholesky, True), direction, check_finite=False)
        return self.factor @ direction

    def covariances_with(self, first: Integers, second: Integers | None) -> Array:
        """`covariance_with` for many pairs at once, one row each (pairs x n)."""
        rows = self._all_rows
        return (rows[first] if second is None else rows[first] - rows[second]) @ rows.T

    def covariances_of(self, states: Integers) -> Array:
        """Covariance of some states with every state, one row each (states x n)."""
        everything = self.factor if self._cholesky is None else self._all_rows
        return everything[states] @ everything.T

    @cached_property
    def variance(self) -> Array:
        """Variance of every state (n)."""
        everything = self.factor if self._cholesky is None else self._all_rows
        return np.einsum("ij,ij->i", everything, everything)

    def covariance_of(self, states: Integers) -> Array:
        """Covariance between some states."""
        rows = self._rows(states)
        return rows @ rows.T

    def variance_of(self, states: Integers) -> Array:
        """Variance of each of some states."""
        rows = self._rows(states)
        return np.einsum("ij,ij->i", rows, rows)


class KernelPosterior:
    """Covariance K - K_XS (D_S^{-1} + K_SS)^{-1} K_SX of the states, K n x n, D information per state (n)."""

    def __init__(self, kernel_matrix: Array, information: Array) -> None:
        visited = np.flatnonzero(information)
        inner = kernel_matrix[np.ix_(visited, visited)] + np.diag(1.0 / information[visited])
        cholesky = linalg.cholesky(inner, lower=True)
        explained = linalg.solve_triangular(cholesky, kernel_matrix[visited], lower=True)
        self.covariance = kernel_matrix - explained.T @ explained

    def farthest(self, candidates: Integers, generator: np.random.Generator) -> tuple[int, int, float]:
        """The two candidate states with the largest variance of their difference, and that variance."""
        block = self.covariance[np.ix_(candidates, candidates)]
        variance = block.diagonal()
        distance = np.triu(variance[:, None] + variance - 2.0 * block, 1)
        best = distance.max()
        left, right = np.nonzero(np.triu(distance >= best - TIE * abs(best), 1))
        position = 0 if len(left) == 1 else int(generator.integers(len(left)))
        return int(candidates[left[position]]), int(candidates[right[position]]), float(best)

    def covariance_with(self, first: int | Integers, second: int | Integers | None) -> Array:
        """Cov[f(first) - f(second), f(x)] for every state x (n), or for many pairs (pairs x n); `second` may be None."""
        return self.covariance[first] if second is None else self.covariance[first] - self.covariance[second]

    covariances_with = covariance_with

    def covariances_of(self, states: Integers) -> Array:
        """Covariance of some states with every state, one row each (states x n)."""
        return self.covariance[states]

    @property
    def variance(self) -> Array:
        """Variance of every state (n)."""
        return self.covariance.diagonal()

    def covariance_of(self, states: Integers) -> Array:
        """Covariance between some states."""
        return self.covariance[np.ix_(states, states)]

    def variance_of(self, states: Integers) -> Array:
        """Variance of each of some states."""
        return self.covariance.diagonal()[states]
