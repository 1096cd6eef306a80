"""The belief about f: a Gaussian vector, updated one measurement at a time (section 2, "Gaussian Processes").

With features Phi and weights theta ~ N(m, I), f = Phi theta is Gaussian with covariance F F^T, F = Phi at first. One
measurement y = h^T f + noise turns F into (I - gain) F; Potter's square-root form of that update

    a = F^T h,   b = a^T a + sigma^2,   F <- F - (F a) a^T / (b + sqrt(b sigma^2)),   mean <- mean + F a (y - h^T mean) / b

costs one pass over F, needs no matrix inverse, does not grow with the number of measurements, and keeps F F^T positive
semi-definite whatever the rounding. The rows of F are the states of a finite process, or the weights of a feature map.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.plant.situation import Location

BLOCK = 2**16
"""Numbers of the factor that are updated at a time."""


class FiniteBelief:
    """A Gaussian vector with mean (n) and covariance `factor @ factor.T` (factor n x M)."""

    def __init__(self, mean: Array, factor: Array) -> None:
        self.mean = np.array(mean, dtype=float)
        self.factor = np.array(factor, dtype=float)

    def copy(self) -> FiniteBelief:
        """An independent copy."""
        return FiniteBelief(self.mean, self.factor)

    def of_first(self, number: int) -> FiniteBelief:
        """The belief about the first rows alone, in a factor with no more columns than rows."""
        factor = self.factor[:number]
        if factor.shape[1] > number:
            # F = R^T Q^T, so that F F^T = R^T R.
            factor = np.asarray(np.linalg.qr(factor.T, mode="r")).T
        return FiniteBelief(self.mean[:number], factor)

    @property
    def variance(self) -> Array:
        """Variance of each row (n)."""
        return np.einsum("ij,ij->i", self.factor, self.factor)

    @property
    def standard_deviation(self) -> Array:
        """Standard deviation of each row (n)."""
        return np.sqrt(self.variance)

    def predict(self, locations: Sequence[Location] | Array) -> tuple[Array, Array]:
        """Mean and standard deviation of n rows, n each."""
        rows = np.array(locations)
        return self.mean[rows], np.linalg.norm(self.factor[rows], axis=1)

    def observe(self, row: int, value: float | None, noise_variance: float) -> None:
        """Condition on a measurement of one row; `value` None means visited, value not known yet."""
        self._condition(self.factor[row].copy(), None if value is None else value - self.mean[row], noise_variance)

    def observe_along(self, direction: Array, value: float | None, noise_variance: float) -> None:
        """Condition on a measurement of `direction @ f` (the rows are weights, the direction a feature vector)."""
        surprise = None if value is None else value - float(direction @ self.mean)
        self._condition(direction @ self.factor, surprise, noise_variance)

    def observe_all(self, rows: Integers, values: Array, noise_variances: Array) -> None:
        """Condition on many measurements of rows at once: the same belief up to rounding, in the time of a few single ones.

        With A = F[rows], R the noise and I + A^T R^-1 A = L L^T: F <- F L^-T, mean <- mean + F L^-1 A^T R^-1 (y - mean[rows]).
        """
        from scipy.linalg import solve_triangular  # Slow to load, and campaigns with a given kernel do without it.

        precision = np.bincount(rows, 1.0 / noise_variances, len(self.mean))
        weighted = np.bincount(rows, (values - self.mean[rows]) / noise_variances, len(self.mean))
        seen = np.flatnonzero(precision)
        loadings = self.factor[seen]
        root = loadings * np.sqrt(precision[seen])[:, None]
        lower = np.linalg.cholesky(np.eye(self.factor.shape[1]) + root.T @ root)
        self.factor = solve_triangular(lower, self.factor.T, lower=True, check_finite=False).T
        weights = solve_triangular(lower, loadings.T @ weighted[seen], lower=True, check_finite=False)
        self.mean = self.mean + self.factor @ weights

    def _condition(self, loading: Array, surprise: float | None, noise_variance: float) -> None:
        covariance = self.factor @ loading
        total = float(loading @ loading) + noise_variance
        if surprise is not None:
            self.mean += covariance * (surprise / total)
        gain = covariance / (total + math.sqrt(total * noise_variance))
        # In blocks that stay in the cache: with many states the outer product is as large as the factor itself.
        rows = max(1, BLOCK // max(1, len(loading)))
        for first in range(0, len(gain), rows):
            block = self.factor[first : first + rows]
            block -= np.outer(gain[first : first + rows], loading)
