"""Kernels of one known feature: f(x) = w y(x) with an uncertain weight (appendix "Benchmark Details", Knorr).

With w ~ N(weight_mean, weight_variance), f has the mean weight_mean y(x) and the covariance
weight_variance y(x) y(x'). So one uses a process model that knows the shape of a response but not its size.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.known_features import KnownFeatures


@dataclass(frozen=True)
class SingleFeature(KnownFeatures):
    """A kernel of rank one; a subclass gives the feature y and its derivatives.

    Parameters
    ----------
    weight_mean, weight_variance
        Normal prior of the feature's weight.
    """

    weight_mean: float = 0.0
    weight_variance: float = 1.0

    fitted: ClassVar[tuple[str, ...]] = ("weight_variance",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers(["weight_mean"], "a finite number", lambda number: True)

    @abstractmethod
    def feature(self, points: Array) -> Array:
        """y(x) of n points."""

    @abstractmethod
    def feature_gradient(self, points: Array) -> Array:
        """First derivatives of y, n x d."""

    @abstractmethod
    def feature_hessian(self, points: Array) -> Array:
        """Second derivatives of y, n x d x d."""

    def feature_expression(self, point: Sequence[Any]) -> Any:
        """y of one point, from d Pyomo expressions."""
        raise self._no_formula("feature_expression")

    @property
    def weights(self) -> dict[str, float]:
        """The prior mean of the one weight."""
        return {"weight": self.weight_mean}

    @property
    def weight_covariance(self) -> Array:
        """The variance of the weight, 1 x 1."""
        return np.array([[self.weight_variance]])

    def features(self, points: Array) -> Array:
        """y of n points, n x 1."""
        return self.feature(points)[:, None]

    def features_gradient(self, points: Array) -> Array:
        """First derivatives of y, n x 1 x d."""
        return self.feature_gradient(points)[:, None]

    def features_hessian(self, points: Array) -> Array:
        """Second derivatives of y, n x 1 x d x d."""
        return self.feature_hessian(points)[:, None]

    def features_expression(self, point: Sequence[Any]) -> list[Any]:
        """y of one point, from d Pyomo expressions."""
        return [self.feature_expression(point)]

    def __call__(self, left: Array, right: Array) -> Array:
        """Covariances, n x m."""
        return self.weight_variance * np.outer(self.feature(left), self.feature(right))

    def diagonal(self, points: Array) -> Array:
        """Prior variances of n points."""
        return self.weight_variance * self.feature(points) ** 2

    def half_diagonal_gradient(self, points: Array) -> Array:
        """Half the gradient of k(x, x), n x d."""
        return self.weight_variance * self.feature(points)[:, None] * self.feature_gradient(points)

    def gradient(self, left: Array, right: Array) -> Array:
        """First derivatives with respect to `left`, n x m x d."""
        values = self.feature(right)[None, :, None]
        return self.weight_variance * self.feature_gradient(left)[:, None, :] * values

    def hessian(self, left: Array, right: Array) -> Array:
        """Second derivatives with respect to `left`, n x m x d x d."""
        values = self.feature(right)[None, :, None, None]
        return self.weight_variance * self.feature_hessian(left)[:, None, :, :] * values

    def expression(self, point: Sequence[Any], centers: Array, weights: Array) -> Any:
        """s(x) of one point as a Pyomo expression: the centres enter through one number."""
        return float(self.weight_variance * (weights @ self.feature(centers))) * self.feature_expression(point)

    def mean(self, points: Array) -> Array:
        """Prior mean of n points."""
        return self.weight_mean * self.feature(points)

    def mean_gradient(self, points: Array) -> Array:
        """First derivatives of the prior mean, n x d."""
        return self.weight_mean * self.feature_gradient(points)
