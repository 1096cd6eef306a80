"""Functions of the form s(x) = sum_j w_j k(x, c_j): what posterior means, samples and covariances are made of.

Given data X, the posterior mean, every posterior sample, and x -> Cov[f(z), f(x)] - Cov[f(z'), f(x)] of the linearised
utility (appendix "Linearizing the objective") are all sums of kernels centred at fixed points. Some hundred of them are
evaluated per plan, so each family of kernels sums over the centres before it forms derivatives. A stationary kernel in
u = x / lengthscale, with weights w_j that may differ from point to point, has

    value     = sum_j w_j g_j,
    gradient  = u sum_j w_j slope_j - sum_j w_j slope_j c_j,
    hessian   = sum_j w_j (curvature_j (u - c_j) (u - c_j)^T + slope_j I).

For the squared exponential, slope = -g and curvature = g: one exponential per point and centre serves all three.
"""

from __future__ import annotations

import math
from functools import cached_property, reduce, singledispatch
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.stationary import Stationary
from tcbo_pyomo.surrogate.kernels.sum import Sum

ROWS = 256
"""Points are treated in blocks of so many rows, so that a block of kernel values stays in the processor's cache."""


class Jet(NamedTuple):
    """Value (n), gradient (n x d) and Hessian (n x d x d) of a function at n points."""

    value: Array
    gradient: Array
    hessian: Array


class Sections:
    """The kernel seen from m x d fixed centres, x -> k(x, c_1), ..., k(x, c_m), and weighted sums of that; any kernel.

    Everywhere `points` is n x d, and `weights` n x m: one row of weights for each point, or 1 x m for all.
    """

    def __init__(self, kernel: Kernel, centers: Array) -> None:
        self.kernel, self.centers = kernel, centers

    def __call__(self, points: Array) -> Array:
        """Kernel values, n x m."""
        return self.kernel(points, self.centers)

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        gradient = np.einsum("nm,nmi->ni", weights, self.kernel.gradient(points, self.centers))
        return np.einsum("nm,nm->n", self(points), weights), gradient

    def jet(self, points: Array, weights: Array) -> Jet:
        """Weighted sums with first and second derivatives."""
        hessian = np.einsum("nm,nmij->nij", weights, self.kernel.hessian(points, self.centers))
        return Jet(*self.value_and_gradient(points, weights), hessian)


class StationarySections(Sections):
    """The same for a kernel of the scaled distance, by matrix products."""

    kernel: Stationary

    def __init__(self, kernel: Stationary, centers: Array) -> None:
        super().__init__(kernel, centers)
        self.lengthscale = np.broadcast_to(np.asarray(kernel.lengthscale, dtype=float), centers.shape[1:])
        self.scaled_centers = centers / self.lengthscale

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        distance = cdist(points / self.lengthscale, self.scaled_centers)
        value = np.einsum("nm,nm->n", self.kernel.correlation(distance), weights)
        slopes = weights * self.kernel.slope(distance)
        total = slopes.sum(axis=1, keepdims=True)
        gradient = (points / self.lengthscale * total - slopes @ self.scaled_centers) / self.lengthscale
        return self.kernel.variance * value, self.kernel.variance * gradient

    def jet(self, points: Array, weights: Array) -> Jet:
        """Weighted sums with first and second derivatives.

        Offsets are n x d x m arrays: the Hessian is one small matrix product per point, and where a curvature diverges at its
        centre nothing cancels.
        """
        offset = (points / self.lengthscale)[:, :, None] - self.scaled_centers.T[None, :, :]
        distance = np.sqrt(np.einsum("ndm,ndm->nm", offset, offset))
        slopes = weights * self.kernel.slope(distance)
        curvatures = weights * self.kernel.curvature(distance)
        hessian = (offset * curvatures[:, None, :]) @ offset.transpose(0, 2, 1)
        hessian += slopes.sum(axis=1)[:, None, None] * np.eye(points.shape[1])
        hessian *= self.kernel.variance / np.outer(self.lengthscale, self.lengthscale)
        return Jet(*self.value_and_gradient(points, weights), hessian)


class SquaredExponentialSections(StationarySections):
    """The same for the squared exponential; log k(x, c) = log variance - |u|^2/2 - |c|^2/2 + u.c is one product.

    With e_j = w_j k(x, c_j), all derivatives are moments: sums of e_j, e_j c_j and e_j c_j c_j^T.
    """

    def __init__(self, kernel: SquaredExponential, centers: Array) -> None:
        super().__init__(kernel, centers)
        halves = math.log(kernel.variance) - 0.5 * (self.scaled_centers**2).sum(axis=1)
        self._exponents = np.vstack([self.scaled_centers.T, np.ones(len(centers)), halves])

    @cached_property
    def _powers(self) -> Array:
        """1, c_j and c_j c_j^T of every centre, m x (1 + d + d^2)."""
        squares = (self.scaled_centers[:, :, None] * self.scaled_centers[:, None, :]).reshape(len(self.centers), -1)
        return np.column_stack([np.ones(len(self.centers)), self.scaled_centers, squares])

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
        value = terms.sum(axis=1)
        return value, self._gradient(points, value, terms @ self.scaled_centers)

    def jet(self, points: Array, weights: Array) -> Jet:
        """Weighted sums with first and second derivatives."""
        terms = self(points)
        terms *= weights
        moments, dimension = terms @ self._powers, points.shape[1]
        value, first = moments[:, 0], moments[:, 1 : 1 + dimension]
        scaled = points / self.lengthscale
        cross = first[:, :, None] * scaled[:, None, :]
        hessian = moments[:, 1 + dimension :].reshape(-1, dimension, dimension) - cross - cross.transpose(0, 2, 1)
        hessian += value[:, None, None] * (scaled[:, :, None] * scaled[:, None, :] - np.eye(dimension))
        return Jet(value, self._gradient(points, value, first), hessian / np.outer(self.lengthscale, self.lengthscale))

    def _gradient(self, points: Array, value: Array, first: Array) -> Array:
        return -(points / self.lengthscale * value[:, None] - first) / self.lengthscale


class SingleFeatureSections(Sections):
    """The same for a kernel of rank one: the centres enter through one number per point."""

    kernel: SingleFeature

    @cached_property
    def _features(self) -> Array:
        return self.kernel.weight_variance * self.kernel.feature(self.centers)

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        factor = weights @ self._features
        return factor * self.kernel.feature(points), factor[:, None] * self.kernel.feature_gradient(points)

    def jet(self, points: Array, weights: Array) -> Jet:
        """Weighted sums with first and second derivatives."""
        hessian = (weights @ self._features)[:, None, None] * self.kernel.feature_hessian(points)
        return Jet(*self.value_and_gradient(points, weights), hessian)


class CombinedSections(Sections):
    """The same for a kernel that is a sum of factors times kernels."""

    def __init__(self, kernel: Kernel, centers: Array, factor: float, parts: tuple[Kernel, ...]) -> None:
        super().__init__(kernel, centers)
        self.factor, self.parts = factor, [sections(part, centers) for part in parts]

    def __call__(self, points: Array) -> Array:
        """Kernel values, n x m."""
        return self.factor * reduce(np.add, [part(points) for part in self.parts])

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        found = [part.value_and_gradient(points, weights) for part in self.parts]
        value, gradient = (self.factor * reduce(np.add, terms) for terms in zip(*found, strict=True))
        return value, gradient

    def jet(self, points: Array, weights: Array) -> Jet:
        """Weighted sums with first and second derivatives."""
        found = [part.jet(points, weights) for part in self.parts]
        return Jet(*(self.factor * reduce(np.add, terms) for terms in zip(*found, strict=True)))


@singledispatch
def sections(kernel: Kernel, centers: Array) -> Sections:
    """The fastest form for this kernel."""
    return Sections(kernel, centers)


sections.register(Stationary, StationarySections)
sections.register(SquaredExponential, SquaredExponentialSections)
sections.register(SingleFeature, SingleFeatureSections)
sections.register(Sum, lambda kernel, centers: CombinedSections(kernel, centers, 1.0, kernel.kernels))
sections.register(Scaled, lambda kernel, centers: CombinedSections(kernel, centers, kernel.factor, (kernel.kernel,)))


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
