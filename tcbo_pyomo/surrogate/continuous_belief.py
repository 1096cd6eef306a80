"""The belief about f on a continuous box: [-0.5, 0.5]^d in scaled coordinates (section 2; section 4.2 for its use).

Two representations share one interface. "exact" centres kernels at the data; "nystroem" uses the paper's
M = min(2^(5 + d), 512) features. Exact is the default up to 1,000 measurements: for some hundred it is faster, and at the
benchmarks' lengthscales the features miss up to 30 % of the prior variance in 3-D and almost all of it in 6-D
(see prior_samples.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import ArrayLike

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.surrogate.exact_posterior import ExactPosterior
from tcbo_pyomo.surrogate.expansion import KernelExpansion
from tcbo_pyomo.surrogate.features import checked_number
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.nystroem_posterior import NystroemPosterior, inducing_points
from tcbo_pyomo.surrogate.posterior_protocol import Posterior
from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples
from tcbo_pyomo.surrogate.prior_samples import PriorSampler

REPRESENTATIONS = ("exact", "nystroem")

SMALLEST_SHARE = 1e-14
"""Of the prior variance: below this a posterior variance is rounding."""


class ContinuousBelief:
    """A Gaussian process on [-0.5, 0.5]^d, updated one visit at a time.

    Parameters
    ----------
    kernel
        Prior covariance and mean.
    dimension
        Number of coordinates d.
    representation
        "exact" or "nystroem".
    number
        Number of Nystroem features; None for min(2^(5 + d), 512). The exact representation takes none.

    Attributes
    ----------
    measured
        n x d points whose values are known, in the order told.
    """

    def __init__(
        self, kernel: Kernel, dimension: int, representation: str = "exact", number: int | None = None
    ) -> None:
        self.kernel, self.dimension, self.representation = kernel, dimension, representation
        self.measured = np.empty((0, dimension))
        self._posterior = _prior(kernel, dimension, representation, number)

    def copy(self) -> ContinuousBelief:
        """An independent copy: where to count pending or planned visits."""
        twin = copy(self)
        twin._posterior = self._posterior.copy()
        return twin

    def observe(self, point: ArrayLike, value: float | None, noise_variance: float) -> None:
        """Condition on a measurement at a point (d); `value` None means visited, value not known yet.

        A visit without a value shrinks variances and leaves the mean alone. A planned visit that counts as the
        fraction q of a measurement has the noise variance sigma^2 / q.
        """
        place = self._checked(point)
        if not (math.isfinite(noise_variance) and noise_variance > 0):
            raise BadInput(f"noise variance {noise_variance!r} must be a positive finite number")
        if value is not None and not math.isfinite(value):
            raise BadInput(f"value {value!r} at {place} must be a finite number, or None while it is pending")
        surprise = None if value is None else float(value) - float(self.kernel.mean(place[None, :])[0])
        self._posterior.observe(place, surprise, float(noise_variance))
        if value is not None:
            self.measured = np.vstack([self.measured, place])

    def mean(self, points: Array) -> Array:
        """Posterior mean of n points."""
        return self.kernel.mean(points) + self._posterior.sections(points) @ self._posterior.mean_weights

    def mean_and_gradient(self, points: Array) -> tuple[Array, Array]:
        """Posterior mean (n) and its gradient (n x d)."""
        sections, weights = self._posterior.sections, self._posterior.mean_weights
        rows = np.broadcast_to(weights, (len(points), len(weights)))
        value, gradient = sections.value_and_gradient(points, rows)
        return self.kernel.mean(points) + value, self.kernel.mean_gradient(points) + gradient

    def predict(self, locations: Sequence[Location] | Array) -> tuple[Array, Array]:
        """Posterior mean and standard deviation of n points, n each."""
        points = np.array(locations, dtype=float)
        return self.mean(points), self.standard_deviation(points)

    def variance(self, points: Array) -> Array:
        """Posterior variance of n points."""
        return self._variance(points, self._reduced(points))

    def standard_deviation(self, points: Array) -> Array:
        """Posterior standard deviation of n points."""
        return np.sqrt(self.variance(points))

    def standard_deviation_and_gradient(self, points: Array) -> tuple[Array, Array]:
        """Posterior standard deviation (n) and its gradient (n x d)."""
        reduced = self._reduced(points)
        deviation = np.sqrt(self._variance(points, reduced))
        # d/dx r(x)^T r(x) = 2 sum_j w_j dk(x, c_j)/dx with the weights w of x' -> r(x)^T r(x').
        _, half = self._posterior.sections.value_and_gradient(points, self._posterior.weights(reduced))
        if self._posterior.subtracts:
            half = self.kernel.half_diagonal_gradient(points) - half
        return deviation, half / deviation[:, None]

    def covariance(self, left: Array, right: Array) -> Array:
        """Posterior covariances, n x m."""
        explained = self._reduced(left) @ self._reduced(right).T
        return self.kernel(left, right) - explained if self._posterior.subtracts else explained

    def covariance_with(self, first: ArrayLike, second: ArrayLike | None = None) -> KernelExpansion:
        """x -> Cov[f(z), f(x)] - Cov[f(z'), f(x)], points z, z' (d each); appendix "Linearizing the objective".

        Without a second point x -> Cov[f(z), f(x)], for G-allocation.
        """
        ends = [self._checked(point) for point in (first, second) if point is not None]
        return self._covariance_with(np.vstack(ends), np.array([1.0, -1.0])[: len(ends)])

    def covariances_with(self, points: Array) -> KernelExpansion:
        """x -> Cov[f(z_j), f(x)] for each of k points, as k functions."""
        return self._covariance_with(points, np.eye(len(points)))

    def _covariance_with(self, points: Array, sums: Array) -> KernelExpansion:
        """x -> Cov[g_j, f(x)] with g_j the sum over i of sums[j, i] f(z_i); `sums` is k x n, or n for one quantity."""
        weights = sums @ self._posterior.weights(self._reduced(points))
        centers = self._posterior.sections.centers
        if self._posterior.subtracts:
            centers, weights = np.vstack([points, centers]), np.concatenate([sums, -weights], axis=-1)
        return KernelExpansion(self.kernel, centers, weights.T)

    def difference_variances(self, points: Array) -> Array:
        """Var[f(z_i) - f(z_j)] of K points, K x K: the terms of the utility."""
        covariance = self.covariance(points, points)
        variance = covariance.diagonal()
        return np.maximum(variance[:, None] + variance[None, :] - 2.0 * covariance, 0.0)

    def samples(self, count: int, generator: np.random.Generator, sign: float = 1.0) -> PosteriorSamples:
        """Draw `count` functions from the posterior (pending visits shrink their spread, not their mean).

        With the sign -1 the deviations from the mean are those of the sign 1, mirrored.
        """
        return self._posterior.samples(count, generator, sign)

    def _reduced(self, points: Array) -> Array:
        return self._posterior.reduced(self._posterior.sections(points))

    def _variance(self, points: Array, reduced: Array) -> Array:
        explained = np.einsum("nr,nr->n", reduced, reduced)
        prior = self.kernel.diagonal(points)
        floor = SMALLEST_SHARE * np.maximum(prior, np.finfo(float).tiny)
        return np.maximum(prior - explained if self._posterior.subtracts else explained, floor)

    def _checked(self, point: ArrayLike) -> Array:
        place = np.array(point, dtype=float)
        if place.shape != (self.dimension,) or not np.isfinite(place).all():
            raise BadInput(f"point {point!r} must be {self.dimension} finite numbers, one per coordinate")
        return place


def _prior(kernel: Kernel, dimension: int, representation: str, number: int | None) -> Posterior:
    """The posterior of no data."""
    if representation == "exact":
        if number is not None:
            raise BadInput(f"representation 'exact' takes no number of features, got {number!r}")
        return ExactPosterior(kernel, dimension, PriorSampler(kernel, dimension))
    if representation != "nystroem":
        raise BadInput(f"unknown representation {representation!r}; {suggestion(str(representation), REPRESENTATIONS)}")
    return NystroemPosterior(kernel, inducing_points(kernel, dimension, checked_number(number, dimension)))
