"""Stationary kernels: the covariance depends on the scaled distance of two points alone.

k(x, x') = variance * g(r),   r^2 = sum_i ((x_i - x'_i) / lengthscale_i)^2.

With D_i = (x_i - x'_i) / lengthscale_i, the derivatives with respect to x need two more functions of r,

    slope(r) = g'(r) / r,   curvature(r) = slope'(r) / r,
    gradient_i   = variance * slope D_i / l_i,
    hessian_ij   = variance * (curvature D_i D_j / (l_i l_j) + slope [i = j] / l_i^2),

which stay exact at r = 0, where a derivative of r itself does not exist.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.distances import distances
from tcbo_pyomo.foundation.elementary_functions import sqrt
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

ROUNDING = 1e-11
"""Added to r^2 in expressions: its root has no derivative at zero."""


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of the scaled distance; a subclass gives g, slope and curvature, and its spectral density.

    Parameters
    ----------
    variance
        Prior variance of f at any point.
    lengthscale
        In the scaled box; one number, or one per dimension.
    """

    variance: float = 1.0
    lengthscale: float | tuple[float, ...] = 0.2

    fitted: ClassVar[tuple[str, ...]] = ("variance", "lengthscale")
    vectors: ClassVar[tuple[str, ...]] = ("lengthscale",)

    @abstractmethod
    def correlation(self, distance: Array) -> Array:
        """g(r), elementwise."""

    @abstractmethod
    def slope(self, distance: Array) -> Array:
        """g'(r) / r, elementwise, with its limit at r = 0."""

    @abstractmethod
    def curvature(self, distance: Array) -> Array:
        """(g'(r) / r)' / r, elementwise; zero at r = 0 if it diverges there, for it multiplies D D^T = 0."""

    def frequencies(self, generator: np.random.Generator, number: int, dimension: int) -> Array:
        """Draw `number` x d frequencies from the spectral density of g (Bochner's theorem)."""
        name = self.registry_name()
        raise BadInput(f"kernel '{name}' gives no frequencies; use features 'exact' or 'nystroem'")

    def __call__(self, left: Array, right: Array) -> Array:
        """Covariances, n x m."""
        scale = self._scale(left.shape[1])
        return self.variance * self.correlation(distances(left / scale, right / scale))

    def diagonal(self, points: Array) -> Array:
        """Prior variances of n points: the same everywhere."""
        return np.full(len(points), self.variance)

    def half_diagonal_gradient(self, points: Array) -> Array:
        """Zero, n x d: the variance is the same everywhere."""
        return np.zeros_like(points)

    def gradient(self, left: Array, right: Array) -> Array:
        """First derivatives with respect to `left`, n x m x d."""
        scale = self._scale(left.shape[1])
        offset = (left[:, None, :] - right[None, :, :]) / scale
        distance = np.linalg.norm(offset, axis=2)
        return (self.variance * self.slope(distance))[:, :, None] * (offset / scale)

    def hessian(self, left: Array, right: Array) -> Array:
        """Second derivatives with respect to `left`, n x m x d x d."""
        scale = self._scale(left.shape[1])
        offset = (left[:, None, :] - right[None, :, :]) / scale
        distance = np.linalg.norm(offset, axis=2)[:, :, None, None]
        direction = offset / scale
        outer = direction[:, :, :, None] * direction[:, :, None, :]
        return self.variance * (self.curvature(distance) * outer + self.slope(distance) * np.diag(scale**-2))

    def expression(self, point: Sequence[Any], centers: Array, weights: Array) -> Any:
        """s(x) = sum_j w_j k(x, c_j) of one point as a Pyomo expression, from `correlation_expression`."""
        scale = self._scale(len(point))
        scaled = [x / length for x, length in zip(point, scale.tolist(), strict=True)]
        terms = []
        for center, weight in zip((centers / scale).tolist(), (self.variance * weights).tolist(), strict=True):
            squared = sum((x - c) ** 2 for x, c in zip(scaled, center, strict=True))
            terms.append(weight * self.correlation_expression(squared))
        return sum(terms)

    def correlation_expression(self, squared: Any) -> Any:
        """g as a Pyomo expression of r^2; from `correlation` where that is written with `elementary_functions`."""
        try:
            return self.correlation(sqrt(squared + ROUNDING))
        except (TypeError, ValueError, AttributeError) as error:
            raise self._no_formula("correlation_expression") from error

    def _scale(self, dimension: int) -> Array:
        """One lengthscale per dimension."""
        if isinstance(self.lengthscale, tuple) and len(self.lengthscale) != dimension:
            raise self._refused("lengthscale", f"one number, or {dimension} numbers, one per dimension")
        return np.broadcast_to(np.asarray(self.lengthscale, dtype=float), (dimension,))
