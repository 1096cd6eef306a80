"""The exact Gaussian process at arbitrary points (section 2): the reference for other forms of the posterior.

With K = k(X, X) + diag(sigma^2) = L L^T and prior mean m, the posterior after measuring y at X is

    mean(x)   = m(x) + k(x, X) K^-1 (y - m(X)),
    k(x, x')  = k(x, x') - k(x, X) K^-1 k(X, x').
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve, solve_triangular

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


def _nothing() -> Array:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class GaussianProcess:
    """A Gaussian process given measurements; `GaussianProcess(kernel)` is the prior.

    Parameters
    ----------
    kernel
        Covariance and prior mean.
    points, values, noise_variances
        n x d scaled points, the n values measured there, and the n noise variances; given by `condition`.
    """

    kernel: Kernel
    points: Array = field(default_factory=_nothing)
    values: Array = field(default_factory=_nothing)
    noise_variances: Array = field(default_factory=_nothing)

    def condition(self, points: ArrayLike, values: ArrayLike, noise_variances: ArrayLike) -> GaussianProcess:
        """The process given these measurements as well; this one stays as it is.

        Parameters
        ----------
        points, values, noise_variances
            n x d scaled points, n values, and n noise variances or one number for all.
        """
        new_points, new_values, new_noise = checked_measurements(points, values, noise_variances)
        if len(self.points) == 0:
            return GaussianProcess(self.kernel, new_points, new_values, new_noise)
        return GaussianProcess(
            self.kernel,
            np.vstack([self.points, new_points]),
            np.concatenate([self.values, new_values]),
            np.concatenate([self.noise_variances, new_noise]),
        )

    def mean(self, points: Array) -> Array:
        """Posterior mean of n points."""
        prior = self.kernel.mean(points)
        return prior + self.kernel(points, self.points) @ self._weights if len(self.points) else prior

    def covariance(self, left: Array, right: Array) -> Array:
        """Posterior covariances, n x m."""
        prior = self.kernel(left, right)
        return prior - self._explained(left).T @ self._explained(right) if len(self.points) else prior

    def variance(self, points: Array) -> Array:
        """Posterior variances of n points."""
        prior = self.kernel.diagonal(points)
        if len(self.points) == 0:
            return prior
        # Where the data explain all, the difference of two equal numbers may round to below zero.
        return np.maximum(prior - (self._explained(points) ** 2).sum(axis=0), 0.0)

    def _explained(self, points: Array) -> Array:
        """L^-1 k(X, points): the part of the prior that the measurements explain (measurements x n)."""
        return solve_triangular(self._cholesky, self.kernel(self.points, points), lower=True)

    @cached_property
    def _cholesky(self) -> Array:
        try:
            return covariance_cholesky(self.kernel, self.points, self.noise_variances)
        except np.linalg.LinAlgError as error:
            raise BadInput(
                f"the covariance of {len(self.points)} measurements is singular at noise variances down to "
                f"{self.noise_variances.min():g}; give larger noise variances or fewer equal points"
            ) from error

    @cached_property
    def _weights(self) -> Array:
        """K^-1 (y - m(X))."""
        return cho_solve((self._cholesky, True), self.values - self.kernel.mean(self.points))


def covariance_cholesky(kernel: Kernel, points: Array, noise_variances: Array) -> Array:
    """Lower Cholesky factor of k(X, X) + diag(sigma^2), n x n; numpy's LinAlgError where that is singular."""
    covariance: Array = kernel(points, points) + np.diag(noise_variances)
    return np.linalg.cholesky(covariance).astype(float, copy=False)


def checked_measurements(
    points: ArrayLike, values: ArrayLike, noise_variances: ArrayLike
) -> tuple[Array, Array, Array]:
    """Measurements as arrays (n x d, n, n), refused where they are not finite or do not belong together."""
    inputs, outputs = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    if inputs.ndim != 2 or outputs.shape != (len(inputs),):
        raise BadInput(f"points {inputs.shape} and values {outputs.shape} must be n x d and n for the same n")
    noise = np.asarray(noise_variances, dtype=float)
    if noise.shape not in ((), outputs.shape):
        raise BadInput(f"noise variances {noise.shape} must be one number or {len(outputs)}, one per measurement")
    noise = np.broadcast_to(noise, outputs.shape)
    for row in np.flatnonzero(~(np.isfinite(inputs).all(axis=1) & np.isfinite(outputs))):
        raise BadInput(f"measurement {row}: point {inputs[row]} and value {outputs[row]} must be finite numbers")
    for row in np.flatnonzero(~(np.isfinite(noise) & (noise > 0))):
        raise BadInput(f"measurement {row}: noise variance {noise[row]} must be a positive finite number")
    return inputs, outputs, noise
