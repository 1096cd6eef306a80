"""What one measurement teaches: a function of the point where it is made, with its gradient.

Beliefs about k quantities g_1 .. g_k, each a sum of values of f, shrink by one measurement at x by

    gain(x) = 1/k sum_j Cov[g_j, f(x)]^2 / (Var f(x) + sigma^2)

in the mean of their variances. With the one quantity f(z) - f(z') it is what the measurement takes off the variance of the
pair being separated (as `first_move.gains_of` on finite plants); with f at places spread over the box, what it takes off the
uncertainty everywhere.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.stats import qmc

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernel_sums import KernelExpansion

PLACES = 8
"""log2 of the number of places that stand for the box."""


class InformationGain:
    """One of the `Functions` to maximise.

    Parameters
    ----------
    surrogate
        The belief in which pending visits count as made.
    covariance
        x -> Cov[g_j, f(x)] of the k quantities.
    noise_variance
        sigma^2 of the measurement.
    """

    count = 1

    def __init__(self, surrogate: ContinuousBelief, covariance: KernelExpansion, noise_variance: float) -> None:
        self.surrogate, self.covariance, self.noise_variance = surrogate, covariance, noise_variance

    def rough(self) -> InformationGain:
        """Itself: variances need double precision."""
        return self

    def value(self, points: Array) -> Array:
        """The gain of a measurement at each of n points, n x 1."""
        shared = (self.covariance.value(points) ** 2).mean(axis=1)
        return (shared / (self.surrogate.variance(points) + self.noise_variance))[:, None]

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """The gain (n) and its gradient (n x d)."""
        each = self.covariance.value(points)
        # sum_j c_j grad c_j is the gradient of one sum of kernels whose weights belong to the point.
        weights = each @ self.covariance.weights.T / each.shape[1]
        shared, half = self.covariance.sections.value_and_gradient(points, weights)
        deviation, slope = self.surrogate.standard_deviation_and_gradient(points)
        spread = deviation**2 + self.noise_variance
        gain = shared / spread
        return gain, 2.0 * (half - (gain * deviation)[:, None] * slope) / spread[:, None]


def gain_about_everything(surrogate: ContinuousBelief, noise_variance: float) -> InformationGain:
    """What one measurement takes off the mean variance over the box."""
    covariance = surrogate.covariances_with(_places(surrogate.dimension))
    return InformationGain(surrogate, covariance, noise_variance)


@lru_cache(maxsize=16)
def _places(dimension: int) -> Array:
    """Points spread evenly over the box, always the same."""
    return qmc.Sobol(dimension, rng=np.random.default_rng(0)).random_base2(PLACES) - 0.5
