"""s(x) = sum_j w_j k(x, c_j) with its first and second derivatives, for many points at once.

This sum is what a linearised utility looks like (appendix "Linearizing the objective"), and it is evaluated
some hundred times per plan. So each family of kernels sums over the centres before it forms derivatives: no
array of n x m x d x d.
"""

from __future__ import annotations

from functools import reduce, singledispatch
from typing import NamedTuple

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.stationary import Stationary
from tcbo_pyomo.surrogate.kernels.sum import Sum


class Jet(NamedTuple):
    """Value (n), gradient (n x d) and Hessian (n x d x d) of a function at n points."""

    value: Array
    gradient: Array
    hessian: Array


@singledispatch
def weighted_covariance(kernel: Kernel, points: Array, centers: Array, weights: Array) -> Jet:
    """s(x) and its derivatives at n points, from m centres and weights; any kernel."""
    return Jet(
        kernel(points, centers) @ weights,
        np.einsum("nmd,m->nd", kernel.gradient(points, centers), weights),
        np.einsum("nmde,m->nde", kernel.hessian(points, centers), weights),
    )


@weighted_covariance.register
def _(kernel: Stationary, points: Array, centers: Array, weights: Array) -> Jet:
    """Offsets as n x d x m arrays, so that the Hessian is one small matrix product per point."""
    scale = kernel._scale(points.shape[1])
    offset = (points / scale)[:, :, None] - (centers / scale).T[None, :, :]
    distance = np.sqrt(np.einsum("ndm,ndm->nm", offset, offset))
    scaled_weights = kernel.variance * weights
    slope = kernel.slope(distance) * scaled_weights
    curvature = kernel.curvature(distance) * scaled_weights
    hessian = (offset * curvature[:, None, :]) @ offset.transpose(0, 2, 1)
    hessian += slope.sum(axis=1)[:, None, None] * np.eye(points.shape[1])
    gradient = (offset @ slope[:, :, None])[:, :, 0]
    return Jet(kernel.correlation(distance) @ scaled_weights, gradient / scale, hessian / np.outer(scale, scale))


@weighted_covariance.register
def _(kernel: SquaredExponential, points: Array, centers: Array, weights: Array) -> Jet:
    """With e_j = w_j k(x, c_j), all derivatives are moments: sums of e_j, e_j c_j and e_j c_j c_j^T.

    The centre of gravity is subtracted first, so that the moments of distant centres do not cancel.
    """
    scale = kernel._scale(points.shape[1])
    origin = centers.mean(axis=0)
    x, c = (points - origin) / scale, (centers - origin) / scale
    dimension = x.shape[1]
    exponent = x @ c.T
    exponent -= 0.5 * np.einsum("nd,nd->n", x, x)[:, None]
    exponent -= 0.5 * np.einsum("md,md->m", c, c)[None, :]
    covariance = np.exp(exponent, out=exponent)
    squares = (c[:, :, None] * c[:, None, :]).reshape(len(c), -1)
    moments = covariance @ (np.column_stack([np.ones(len(c)), c, squares]) * (kernel.variance * weights)[:, None])
    value, first = moments[:, 0], moments[:, 1 : 1 + dimension]
    cross = first[:, :, None] * x[:, None, :]
    second = moments[:, 1 + dimension :].reshape(-1, dimension, dimension) - cross - cross.transpose(0, 2, 1)
    second += value[:, None, None] * (x[:, :, None] * x[:, None, :] - np.eye(dimension))
    return Jet(value, (first - value[:, None] * x) / scale, second / np.outer(scale, scale))


@weighted_covariance.register
def _(kernel: SingleFeature, points: Array, centers: Array, weights: Array) -> Jet:
    """Rank one: the centres enter through one number."""
    factor = kernel.weight_variance * float(kernel.feature(centers) @ weights)
    return Jet(
        factor * kernel.feature(points),
        factor * kernel.feature_gradient(points),
        factor * kernel.feature_hessian(points),
    )


@weighted_covariance.register
def _(kernel: Sum, points: Array, centers: Array, weights: Array) -> Jet:
    """The sum of the parts."""
    parts = [weighted_covariance(part, points, centers, weights) for part in kernel.kernels]
    return Jet(*(reduce(np.add, terms) for terms in zip(*parts, strict=True)))


@weighted_covariance.register
def _(kernel: Scaled, points: Array, centers: Array, weights: Array) -> Jet:
    """The inner kernel with scaled weights."""
    return weighted_covariance(kernel.kernel, points, centers, kernel.factor * weights)
