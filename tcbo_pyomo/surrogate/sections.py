"""The kernel seen from fixed centres: x -> k(x, c_1), ..., k(x, c_m), and weighted sums of these functions.

A stationary kernel in u = x / lengthscale, with weights w_j that may differ from point to point, has

    value     = sum_j w_j g_j,
    gradient  = u sum_j w_j slope_j - sum_j w_j slope_j c_j,
    hessian   = sum_j w_j (curvature_j (u - c_j) (u - c_j)^T + slope_j I),

so that all of them are matrix products with the centres, and no array of points x centres x d is ever formed. For
the squared exponential, slope = -g and curvature = g: one exponential per point and centre serves all three.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.distance import cdist

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.stationary import Stationary


class Sections:
    """k(x, c_j) for m x d centres c_j, for any kernel.

    Everywhere `points` is n x d, and `weights` n x m: one row of weights for each point.
    """

    def __init__(self, kernel: Kernel, centers: Array) -> None:
        self.kernel = kernel
        self.centers = centers

    def __call__(self, points: Array) -> Array:
        """Kernel values, n x m."""
        return self.kernel(points, self.centers)

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        value = np.einsum("nm,nm->n", self(points), weights)
        slopes = self.kernel.gradient(points, self.centers)
        return value, np.einsum("nm,nmi->ni", weights, slopes)

    def hessian(self, points: Array, weights: Array) -> Array:
        """Second derivatives of the weighted sums, n x d x d."""
        return np.einsum("nm,nmij->nij", weights, self.kernel.hessian(points, self.centers))


class StationarySections(Sections):
    """The same for a kernel of the scaled distance, by matrix products."""

    kernel: Stationary

    def __init__(self, kernel: Stationary, centers: Array) -> None:
        super().__init__(kernel, centers)
        self.lengthscale = np.broadcast_to(np.asarray(kernel.lengthscale, dtype=float), centers.shape[1:])
        self.scaled_centers = centers / self.lengthscale

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        distance = self._distance(points)
        value = np.einsum("nm,nm->n", self.kernel.correlation(distance), weights)
        slopes = weights * self.kernel.slope(distance)
        return self.kernel.variance * value, self.kernel.variance * self._slope_sum(points, slopes)

    def hessian(self, points: Array, weights: Array) -> Array:
        """Second derivatives of the weighted sums, n x d x d."""
        distance = self._distance(points)
        slopes, curvatures = weights * self.kernel.slope(distance), weights * self.kernel.curvature(distance)
        return self.kernel.variance * self._curvature_sum(points, slopes, curvatures)

    def _distance(self, points: Array) -> Array:
        return cdist(points / self.lengthscale, self.scaled_centers)

    def _slope_sum(self, points: Array, slopes: Array) -> Array:
        """The gradient from w_j slope_j (n x m)."""
        total = slopes.sum(axis=1, keepdims=True)
        return (points / self.lengthscale * total - slopes @ self.scaled_centers) / self.lengthscale

    def _curvature_sum(self, points: Array, slopes: Array, curvatures: Array) -> Array:
        """The Hessian from w_j slope_j and w_j curvature_j (n x m each); the square is multiplied out."""
        number, dimension = self.scaled_centers.shape
        squares = (self.scaled_centers[:, :, None] * self.scaled_centers[:, None, :]).reshape(number, -1)
        scaled = points / self.lengthscale
        mixed = scaled[:, :, None] * (curvatures @ self.scaled_centers)[:, None, :]
        hessian = (curvatures @ squares).reshape(-1, dimension, dimension) - mixed - mixed.transpose(0, 2, 1)
        hessian += curvatures.sum(axis=1)[:, None, None] * (scaled[:, :, None] * scaled[:, None, :])
        hessian += slopes.sum(axis=1)[:, None, None] * np.eye(dimension)
        return hessian / np.outer(self.lengthscale, self.lengthscale)


class SquaredExponentialSections(StationarySections):
    """The same for the squared exponential; log k(x, c) = log variance - |u|^2/2 - |c|^2/2 + u.c is one product."""

    def __init__(self, kernel: SquaredExponential, centers: Array) -> None:
        super().__init__(kernel, centers)
        halves = math.log(kernel.variance) - 0.5 * (self.scaled_centers**2).sum(axis=1)
        self._exponents = np.vstack([self.scaled_centers.T, np.ones(len(centers)), halves])

    def __call__(self, points: Array) -> Array:
        """Kernel values, n x m."""
        scaled = points / self.lengthscale
        halves = -0.5 * (scaled**2).sum(axis=1, keepdims=True)
        exponents: Array = np.hstack([scaled, halves, np.ones_like(halves)]) @ self._exponents
        return np.exp(exponents, out=exponents)

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        terms = self(points)
        terms *= weights
        return terms.sum(axis=1), -self._slope_sum(points, terms)

    def hessian(self, points: Array, weights: Array) -> Array:
        """Second derivatives of the weighted sums, n x d x d."""
        terms = self(points) * weights
        return self._curvature_sum(points, -terms, terms)


def sections(kernel: Kernel, centers: Array) -> Sections:
    """The fastest form for this kernel."""
    if isinstance(kernel, SquaredExponential):
        return SquaredExponentialSections(kernel, centers)
    if isinstance(kernel, Stationary):
        return StationarySections(kernel, centers)
    return Sections(kernel, centers)
