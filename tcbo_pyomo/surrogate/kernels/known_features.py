"""Kernels of a few known features: f(x) = m(x) + sum_i phi_i(x) (w_i - mean w_i), with normal weights w of covariance S.

So a process model becomes a prior: the features are its derivatives by its parameters, the weights are the parameters.
f has the covariance phi(x)^T S phi(x').
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


@dataclass(frozen=True)
class KnownFeatures(Kernel):
    """A kernel of low rank; a subclass gives p features with their derivatives, and the covariance of their weights."""

    @property
    @abstractmethod
    def weights(self) -> dict[str, float]:
        """The prior means of the p weights by name."""

    @property
    @abstractmethod
    def weight_covariance(self) -> Array:
        """S, p x p."""

    @abstractmethod
    def features(self, points: Array) -> Array:
        """phi of n points, n x p."""

    @abstractmethod
    def features_gradient(self, points: Array) -> Array:
        """First derivatives of phi, n x p x d."""

    @abstractmethod
    def features_hessian(self, points: Array) -> Array:
        """Second derivatives of phi, n x p x d x d."""

    @abstractmethod
    def features_expression(self, point: Sequence[Any]) -> list[Any]:
        """phi of one point, from d Pyomo expressions."""

    @property
    def weight_factor(self) -> Array:
        """L with L L^T = S, p x p; S may be singular."""
        eigenvalues, eigenvectors = np.linalg.eigh(self.weight_covariance)
        return eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))

    def __call__(self, left: Array, right: Array) -> Array:
        """Covariances, n x m."""
        return self.features(left) @ self._weighted(right)

    def diagonal(self, points: Array) -> Array:
        """Prior variances of n points."""
        return ((self.features(points) @ self.weight_factor) ** 2).sum(axis=1)

    def half_diagonal_gradient(self, points: Array) -> Array:
        """Half the gradient of k(x, x), n x d."""
        return np.einsum("npd,pn->nd", self.features_gradient(points), self._weighted(points))

    def gradient(self, left: Array, right: Array) -> Array:
        """First derivatives with respect to `left`, n x m x d."""
        return np.einsum("npd,pm->nmd", self.features_gradient(left), self._weighted(right))

    def hessian(self, left: Array, right: Array) -> Array:
        """Second derivatives with respect to `left`, n x m x d x d."""
        return np.einsum("npde,pm->nmde", self.features_hessian(left), self._weighted(right))

    def expression(self, point: Sequence[Any], centers: Array, weights: Array) -> Any:
        """s(x) of one point as a Pyomo expression: the centres enter through one number per feature."""
        sizes = (self._weighted(centers) @ weights).tolist()
        return sum(size * feature for size, feature in zip(sizes, self.features_expression(point), strict=True))

    def _weighted(self, points: Array) -> Array:
        """S phi, p x n."""
        return self.weight_covariance @ self.features(points).T
