"""The posterior density of hyper-parameters: the likelihood of the results times a prior around what was declared.

The unknowns are the logarithms theta of factors on the declared lengthscales (one per coordinate), variance and noise. With
A(theta) the covariance of the results and y their deviations from the prior mean,

    log p = -1/2 y^T A^-1 y - 1/2 log |A| - 1/2 sum_j (theta_j / spread_j)^2   (up to a constant),
    d log p / d theta_j = 1/2 tr((a a^T - A^-1) dA/dtheta_j) - theta_j / spread_j^2,   a = A^-1 y.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernel_factors import Factors, Spreads, lengthscales, split
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

IMPOSSIBLE = -1e100
"""Log density where the covariance is singular to rounding: a search needs a finite number to step back from."""


class HyperparameterDensity:
    """log p(theta | results) and its gradient, of the factors that are not certain.

    Parameters
    ----------
    kernel, spreads
        What was declared, and how surely.
    points, values, noise_variances
        n x d scaled points, n values and n noise variances.
    """

    def __init__(self, kernel: Kernel, spreads: Spreads, points: Array, values: Array, noise_variances: Array) -> None:
        stationary, others = split(kernel)
        dimension = points.shape[1]
        all_spreads = np.array([*spreads.lengthscales, spreads.variance, spreads.noise])
        self.free = np.flatnonzero(all_spreads > 0.0 if stationary else np.arange(dimension + 2) > dimension)
        self.free = self.free[all_spreads[self.free] > 0.0]
        self.spreads, self._dimension = all_spreads[self.free], dimension
        self._values, self._noise = values - kernel.mean(points), noise_variances
        self._fixed = sum((factor * part(points, points) for factor, part in others), np.zeros((len(points),) * 2))
        squares = ((points[:, None, :] - points[None, :, :]) ** 2).transpose(2, 0, 1).reshape(dimension, -1)
        self._terms = [
            (factor * part.variance, part, squares / lengthscales(part, dimension)[:, None] ** 2)
            for factor, part in stationary
        ]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of each unknown: four spreads, the variance from the declared one upwards."""
        low = np.where(self.free == self._dimension, 0.0, -4.0)
        return [(float(a * s), float(4.0 * s)) for a, s in zip(low, self.spreads, strict=True)]

    def factors(self, theta: Array) -> Factors:
        """The factors that unknowns stand for."""
        every = np.ones(self._dimension + 2)
        every[self.free] = np.exp(theta)
        return Factors(tuple(every[: self._dimension].tolist()), float(every[-2]), float(every[-1]))

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """log p up to a constant, and its gradient."""
        factors = self.factors(theta)
        inverse_squares = np.array(factors.lengthscales) ** -2.0
        covariance, parts = self._fixed.copy(), []
        for variance, part, squares in self._terms:
            distance = np.sqrt((inverse_squares @ squares).reshape(covariance.shape))
            own = factors.variance * variance * part.correlation(distance)
            covariance += own
            parts.append((own, -factors.variance * variance * part.slope(distance), squares))
        noise = factors.noise * self._noise
        covariance.reshape(-1)[:: len(noise) + 1] += noise
        factor, failed = dpotrf(covariance, lower=1, clean=1)
        if failed:
            return IMPOSSIBLE, np.zeros(len(theta))
        lower = dpotri(factor, lower=1)[0]
        inverse = np.add(lower, lower.T, order="F")
        np.fill_diagonal(inverse, lower.diagonal())
        weights = inverse @ self._values
        fit = -0.5 * float(self._values @ weights) - float(np.log(factor.diagonal()).sum())
        slack = np.outer(weights, weights) - inverse
        slopes = np.zeros(self._dimension + 2)
        for own, slope, squares in parts:
            slopes[: self._dimension] += inverse_squares * (squares @ (slack * slope).ravel())
            if self._dimension in self.free:
                slopes[-2] += float((slack * own).sum())
        slopes[-1] = float(slack.diagonal() @ noise)
        scaled = theta / self.spreads
        value = fit - 0.5 * float(scaled @ scaled)
        if not math.isfinite(value):
            return IMPOSSIBLE, np.zeros(len(theta))
        return value, 0.5 * slopes[self.free] - scaled / self.spreads
