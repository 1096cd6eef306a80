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

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.distances import distances
from tcbo_pyomo.surrogate.kernels.combined import Combined
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.known_features import KnownFeatures
from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.stationary import Stationary


class Jet(NamedTuple):
    """Value (n), gradient (n x d) and Hessian (n x d x d) of a function at n points."""

    value: Array
    gradient: Array
    hessian: Array


class Sections:
    """The kernel seen from m x d fixed centres, x -> k(x, c_1), ..., k(x, c_m), and weighted sums of that; any kernel.

    Everywhere `points` is n x d. A search follows many functions at once, so `value_and_gradient` takes a row of weights for
    each point (n x m); a plan needs second derivatives of one function, so `jet` takes one row (m).
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
        """The sum with one row of weights (m), and its first and second derivatives."""
        return Jet(
            self(points) @ weights,
            np.einsum("nmd,m->nd", self.kernel.gradient(points, self.centers), weights),
            np.einsum("nmde,m->nde", self.kernel.hessian(points, self.centers), weights),
        )


class StationarySections(Sections):
    """The same for a kernel of the scaled distance, by matrix products."""

    kernel: Stationary

    def __init__(self, kernel: Stationary, centers: Array) -> None:
        super().__init__(kernel, centers)
        self.lengthscale = np.broadcast_to(np.asarray(kernel.lengthscale, dtype=float), centers.shape[1:])
        self.scaled_centers = centers / self.lengthscale

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        distance = distances(points / self.lengthscale, self.scaled_centers)
        value = np.einsum("nm,nm->n", self.kernel.correlation(distance), weights)
        slopes = weights * self.kernel.slope(distance)
        total = slopes.sum(axis=1, keepdims=True)
        gradient = (points / self.lengthscale * total - slopes @ self.scaled_centers) / self.lengthscale
        return self.kernel.variance * value, self.kernel.variance * gradient

    def jet(self, points: Array, weights: Array) -> Jet:
        """The sum with one row of weights (m), and its first and second derivatives.

        Offsets are n x d x m arrays: the Hessian is one small matrix product per point, and where a curvature diverges at its
        centre nothing cancels.
        """
        offset = (points / self.lengthscale)[:, :, None] - self.scaled_centers.T[None, :, :]
        distance = np.sqrt(np.einsum("ndm,ndm->nm", offset, offset))
        weights = self.kernel.variance * weights
        slope, curvature = self.kernel.slope(distance) * weights, self.kernel.curvature(distance) * weights
        hessian = (offset * curvature[:, None, :]) @ offset.transpose(0, 2, 1)
        hessian += slope.sum(axis=1)[:, None, None] * np.eye(points.shape[1])
        gradient = (offset @ slope[:, :, None])[:, :, 0] / self.lengthscale
        value = self.kernel.correlation(distance) @ weights
        return Jet(value, gradient, hessian / np.outer(self.lengthscale, self.lengthscale))


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
        value = terms.sum(axis=1)
        gradient = points / self.lengthscale * value[:, None] - terms @ self.scaled_centers
        return value, -gradient / self.lengthscale

    @cached_property
    def _moments(self) -> tuple[Array, Array, Array, Array, Array, Array]:
        """All that does not depend on the points.

        The centre of gravity; the centres c_j from there, as columns; half their squared lengths; 1, c_j and c_j c_j^T of
        each as a row; the unit matrix; the products of lengthscales.
        """
        origin = self.centers.mean(axis=0)
        c = (self.centers - origin) / self.lengthscale
        squares = (c[:, :, None] * c[:, None, :]).reshape(len(c), -1)
        halves = 0.5 * np.einsum("md,md->m", c, c)[None, :]
        powers = np.column_stack([np.ones(len(c)), c, squares])
        return origin, c.T, halves, powers, np.eye(c.shape[1]), np.outer(self.lengthscale, self.lengthscale)

    def jet(self, points: Array, weights: Array) -> Jet:
        """The sum with one row of weights (m), and its first and second derivatives.

        With e_j = w_j k(x, c_j) all of them are moments: sums of e_j, e_j c_j and e_j c_j c_j^T, in one product. The centre of
        gravity is subtracted first, so that the moments of distant centres do not cancel.
        """
        origin, centers, halves, powers, unit, squared_lengthscale = self._moments
        x, dimension = (points - origin) / self.lengthscale, points.shape[1]
        exponent = x @ centers
        exponent -= 0.5 * np.einsum("nd,nd->n", x, x)[:, None]
        exponent -= halves
        moments = np.exp(exponent, out=exponent) @ (powers * (self.kernel.variance * weights)[:, None])
        value, first = moments[:, 0], moments[:, 1 : 1 + dimension]
        cross = first[:, :, None] * x[:, None, :]
        second = moments[:, 1 + dimension :].reshape(-1, dimension, dimension) - cross - cross.transpose(0, 2, 1)
        second += value[:, None, None] * (x[:, :, None] * x[:, None, :] - unit)
        gradient = (first - value[:, None] * x) / self.lengthscale
        return Jet(value, gradient, second / squared_lengthscale)


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
        """The sum with one row of weights (m), and its first and second derivatives."""
        factor, kernel = float(self._features @ weights), self.kernel
        return Jet(
            factor * kernel.feature(points),
            factor * kernel.feature_gradient(points),
            factor * kernel.feature_hessian(points),
        )


class KnownFeaturesSections(Sections):
    """The same for a kernel of a few features: the centres enter through one number per point and feature."""

    kernel: KnownFeatures

    @cached_property
    def _features(self) -> Array:
        """S phi of the centres, m x p."""
        return self.kernel.features(self.centers) @ self.kernel.weight_covariance

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        sizes = weights @ self._features
        value = np.einsum("np,np->n", sizes, self.kernel.features(points))
        return value, np.einsum("np,npd->nd", sizes, self.kernel.features_gradient(points))

    def jet(self, points: Array, weights: Array) -> Jet:
        """The sum with one row of weights (m), and its first and second derivatives."""
        sizes, kernel = weights @ self._features, self.kernel
        return Jet(
            kernel.features(points) @ sizes,
            np.einsum("npd,p->nd", kernel.features_gradient(points), sizes),
            np.einsum("npde,p->nde", kernel.features_hessian(points), sizes),
        )


class CombinedSections(Sections):
    """The same for a factor times a sum of kernels."""

    def __init__(self, kernel: Combined, centers: Array) -> None:
        super().__init__(kernel, centers)
        self.factor, parts = kernel.combination()
        self.parts = [sections(part, centers) for part in parts.values()]

    def __call__(self, points: Array) -> Array:
        """Kernel values, n x m."""
        return self.factor * reduce(np.add, [part(points) for part in self.parts])

    def value_and_gradient(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted sums (n) and their gradients (n x d)."""
        found = [part.value_and_gradient(points, self.factor * weights) for part in self.parts]
        value, gradient = (reduce(np.add, terms) for terms in zip(*found, strict=True))
        return value, gradient

    def jet(self, points: Array, weights: Array) -> Jet:
        """The sum with one row of weights (m), and its first and second derivatives."""
        found = [part.jet(points, self.factor * weights) for part in self.parts]
        return Jet(*(reduce(np.add, terms) for terms in zip(*found, strict=True)))


@singledispatch
def sections(kernel: Kernel, centers: Array) -> Sections:
    """The fastest form for this kernel."""
    return Sections(kernel, centers)


sections.register(Stationary, StationarySections)
sections.register(SquaredExponential, SquaredExponentialSections)
sections.register(KnownFeatures, KnownFeaturesSections)
sections.register(SingleFeature, SingleFeatureSections)
sections.register(Combined, CombinedSections)
