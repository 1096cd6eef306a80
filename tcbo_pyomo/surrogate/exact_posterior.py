"""The posterior without features (appendix "Objective formulation for general kernel methods").

The kernels are centred at the data. With K = k(X, X) + diag(sigma^2) = L L^T over all visits X,

    Cov(x, x') = k(x, x') - r(x)^T r(x'),   r(x) = L^-1 k(X, x),   mean_weights = L^-T L^-1 (y - m(X)),

the last over those visits whose value is known: a pending visit changes the variance, never the mean. Visits with a
value stand first, so that their factor is the leading block of L. A new one costs one triangular solve, O(n^2), and
one more for each pending visit.

Samples are drawn along paths (Matheron's rule): with a prior sample g and noise e,

    f = mean + g - k(., X) K^-1 (g(X) + e)

has the posterior's mean and, up to the error of the prior sample, its covariance: what the data say is exact.
"""

from __future__ import annotations

import math
from copy import copy

import numpy as np
from scipy.linalg import solve_triangular

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.expansion import KernelExpansion
from tcbo_pyomo.surrogate.kernel_sums import sections
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples
from tcbo_pyomo.surrogate.prior_samples import PriorSampler


class ExactPosterior:
    """A Gaussian process at any point of the box, given visits.

    Parameters
    ----------
    kernel
        Prior covariance.
    dimension
        Number of coordinates d.
    sampler
        Source of prior samples; shared by copies.
    """

    subtracts = True

    def __init__(self, kernel: Kernel, dimension: int, sampler: PriorSampler) -> None:
        self.kernel, self.sampler = kernel, sampler
        # These arrays are replaced, never written to: copies may share them.
        self.points = np.empty((0, dimension))
        self.noise_variances = np.empty(0)
        self.surprises = np.empty(0)
        self.cholesky = np.empty((0, 0))
        self._refresh()

    def copy(self) -> ExactPosterior:
        """An independent copy."""
        return copy(self)

    def observe(self, point: Array, surprise: float | None, noise_variance: float) -> None:
        """Condition on a value minus the prior mean, or on a visit (None)."""
        known = len(self.surprises)
        if surprise is None:
            self._append(point[None, :], np.array([noise_variance]))
        else:
            pending, pending_noise = self.points[known:], self.noise_variances[known:]
            self.points, self.noise_variances = self.points[:known], self.noise_variances[:known]
            self.cholesky = self.cholesky[:known, :known]
            self.surprises = np.append(self.surprises, surprise)
            self._append(np.vstack([point, pending]), np.append(noise_variance, pending_noise))
        self._refresh()

    def reduced(self, cross: Array) -> Array:
        """r = L^-1 k(X, x) of n points, as rows."""
        return solve_triangular(self.cholesky, cross.T, lower=True, check_finite=False).T

    def weights(self, reduced: Array) -> Array:
        """L^-T r, as rows."""
        return solve_triangular(self.cholesky, reduced.T, lower=True, trans="T", check_finite=False).T

    def samples(self, count: int, generator: np.random.Generator, sign: float = 1.0) -> PosteriorSamples:
        """Draw functions along paths."""
        prior = self.sampler(count, generator).times(sign)
        noise = sign * np.sqrt(self.noise_variances)[:, None] * generator.standard_normal((len(self.points), count))
        measured = prior.value(self.points) + noise
        weights = self.mean_weights[:, None] - self.weights(self.reduced(measured.T)).T
        return PosteriorSamples(KernelExpansion(self.kernel, self.points, weights), prior)

    def _append(self, points: Array, noise_variances: Array) -> None:
        """Add visits at the end, one row of L each."""
        for point, noise_variance in zip(points, noise_variances, strict=True):
            row = self.reduced(self.kernel(point[None, :], self.points))[0]
            own = float(self.kernel.diagonal(point[None, :])[0]) + noise_variance - float(row @ row)
            size = len(row)
            grown = np.zeros((size + 1, size + 1))
            grown[:size, :size], grown[size, :size] = self.cholesky, row
            # What the noise contributes cannot be explained by other visits; only rounding goes below it.
            grown[size, size] = math.sqrt(max(own, noise_variance))
            self.cholesky = grown
            self.points = np.vstack([self.points, point])
            self.noise_variances = np.append(self.noise_variances, noise_variance)

    def _refresh(self) -> None:
        """Compute the mean's weights and the centres after a change."""
        known = len(self.surprises)
        leading = self.cholesky[:known, :known]
        whitened = solve_triangular(leading, self.surprises, lower=True, check_finite=False)
        # Zero for pending visits.
        self.mean_weights = np.zeros(len(self.points))
        self.mean_weights[:known] = solve_triangular(leading, whitened, lower=True, trans="T", check_finite=False)
        self.sections = sections(self.kernel, self.points)
