"""The posterior density of hyper-parameters: the likelihood of the results times a prior around what was declared.

The unknowns are the logarithms theta of factors on the declared lengthscales (one per coordinate), variance and noise. With
A(theta) the covariance of the results and y their deviations from the prior mean,

    log p = -1/2 y^T A^-1 y - 1/2 log |A| - 1/2 sum_j (theta_j / spread_j)^2   (up to a constant),
    d log p / d theta_j = 1/2 tr((a a^T - A^-1) dA/dtheta_j) - theta_j / spread_j^2,   a = A^-1 y.

Results of one and the same place enter A once, by their mean; their scatter around it says something about the noise alone. On
a finite plant, where places are visited again and again, that makes A small.
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
        self._repeats, self._scatter, (points, values, noise_variances) = _pooled(points, values, noise_variances)
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
        scatter = self._scatter / factors.noise
        fit -= 0.5 * (scatter + self._repeats * math.log(factors.noise))
        slack = np.outer(weights, weights) - inverse
        slopes = np.zeros(self._dimension + 2)
        for own, slope, squares in parts:
            slopes[: self._dimension] += inverse_squares * (squares @ (slack * slope).ravel())
            if self._dimension in self.free:
                slopes[-2] += float((slack * own).sum())
        slopes[-1] = float(slack.diagonal() @ noise) + scatter - self._repeats
        scaled = theta / self.spreads
        value = fit - 0.5 * float(scaled @ scaled)
        if not math.isfinite(value):
            return IMPOSSIBLE, np.zeros(len(theta))
        return value, 0.5 * slopes[self.free] - scaled / self.spreads


def _pooled(points: Array, values: Array, noise_variances: Array) -> tuple[int, float, tuple[Array, Array, Array]]:
    """One mean result per place, with its noise: how many results fewer, and the sum of their squared deviations in sd."""
    places, of_place = np.unique(points, axis=0, return_inverse=True)
    if len(places) == len(points):
        return 0, 0.0, (points, values, noise_variances)
    of_place = of_place.reshape(-1)
    precision = np.bincount(of_place, 1.0 / noise_variances)
    means = np.bincount(of_place, values / noise_variances) / precision
    scatter = float(((values - means[of_place]) ** 2 / noise_variances).sum())
    return len(points) - len(places), scatter, (places, means, 1.0 / precision)
