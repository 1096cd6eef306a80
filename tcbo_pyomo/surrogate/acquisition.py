"""What a point is worth to the search: functions on the box with gradients, to be maximised.

Upper confidence bounds, expected improvement, and what one measurement teaches. Each class has the interface of
`candidates.search.start_points.Functions`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Self

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.sobol_points import scrambled_sobol
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.expansion import KernelExpansion
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal, Slopes
from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples

PLACES = 8
"""log2 of the number of places that represent the box."""


class Surface:
    """One function of the belief on the box."""

    count = 1

    def rough(self) -> Self:
        """Itself: standard deviations need double precision."""
        return self


class ConfidenceBounds(Surface):
    """The optimistic scores of a goal, mean + beta_i sd where the largest is sought; beta_i the `multipliers` (K)."""

    def __init__(self, surrogate: ContinuousBelief, multipliers: Array, goal: Goal = MAXIMISE) -> None:
        self.surrogate, self.multipliers, self.count, self.goal = surrogate, multipliers, len(multipliers), goal

    def value(self, points: Array) -> Array:
        """All functions at n points, n x K."""
        deviation = self.surrogate.standard_deviation(points)[:, None]
        return self.goal.optimistic(self.surrogate.mean(points)[:, None], deviation, self.multipliers)

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """Function `owner[i]` at point i: values (n) and gradients (n x d)."""
        mean, mean_slope = self.surrogate.mean_and_gradient(points)
        deviation, deviation_slope = self.surrogate.standard_deviation_and_gradient(points)
        multiplier = self.multipliers[owner]
        slopes = self.goal.optimistic_slopes(mean, deviation, multiplier)
        return self.goal.optimistic(mean, deviation, multiplier), _chained(slopes, mean_slope, deviation_slope)


class ExpectedScore(Surface):
    """The expected score of a goal, by which a place is recommended: the mean where the largest is sought."""

    def __init__(self, surrogate: ContinuousBelief, goal: Goal = MAXIMISE) -> None:
        self.surrogate, self.goal = surrogate, goal

    def value(self, points: Array) -> Array:
        """The expected score at n points, n x 1."""
        deviation = self.surrogate.standard_deviation(points)
        return self.goal.expected(self.surrogate.mean(points), deviation)[:, None]

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """The expected score (n) and its gradient (n x d)."""
        mean, mean_slope = self.surrogate.mean_and_gradient(points)
        deviation, deviation_slope = self.surrogate.standard_deviation_and_gradient(points)
        slopes = self.goal.expected_slopes(mean, deviation)
        return self.goal.expected(mean, deviation), _chained(slopes, mean_slope, deviation_slope)


class ImprovementSurface(Surface):
    """EI on a box; where the largest is sought its gradient is Phi(u) mean'(x) + phi(u) sd'(x)."""

    def __init__(self, surrogate: ContinuousBelief, incumbent: float, goal: Goal = MAXIMISE) -> None:
        self.surrogate, self.incumbent, self.goal = surrogate, incumbent, goal

    def value(self, points: Array) -> Array:
        """EI at n points, n x 1."""
        deviation = self.surrogate.standard_deviation(points)
        return self.goal.improvement(self.surrogate.mean(points), deviation, self.incumbent)[:, None]

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """EI (n) and its gradient (n x d)."""
        mean, mean_slope = self.surrogate.mean_and_gradient(points)
        deviation, deviation_slope = self.surrogate.standard_deviation_and_gradient(points)
        slopes = self.goal.improvement_slopes(mean, deviation, self.incumbent)
        gradient = _chained(slopes, mean_slope, deviation_slope)
        return self.goal.improvement(mean, deviation, self.incumbent), gradient


class Scored:
    """Functions of the output, such as posterior samples, in the order of a goal's scores."""

    def __init__(self, functions: PosteriorSamples, goal: Goal) -> None:
        self.functions, self.goal, self.count = functions, goal, functions.count

    def rough(self) -> Scored:
        """The same functions, perhaps faster and less exact."""
        return Scored(self.functions.rough(), self.goal)

    def value(self, points: Array) -> Array:
        """All functions at n points, n x K."""
        return self.goal.smooth_score(self.functions.value(points))[0]

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """Function `owner[i]` at point i: values (n) and gradients (n x d)."""
        value, gradient = self.functions.value_and_gradient(points, owner)
        score, slope = self.goal.smooth_score(value)
        return score, slope[:, None] * gradient


def drawn_scores(surrogate: ContinuousBelief, goal: Goal, count: int, generator: np.random.Generator) -> Scored:
    """Functions drawn from the posterior, scored; those of a smallest output are the mirror image of a largest one's."""
    return Scored(surrogate.samples(count, generator, goal.sign), goal)


def _chained(slopes: Slopes, mean_slope: Array, deviation_slope: Array) -> Array:
    """The gradient (n x d) of a function of mean and standard deviation."""
    by_mean, by_deviation = (np.asarray(slope)[..., None] for slope in slopes)
    return np.asarray(by_mean * mean_slope + by_deviation * deviation_slope)


class InformationGain(Surface):
    """What one measurement teaches, as a function of the point where it is made.

    Beliefs about k quantities g_1 .. g_k, each a sum of values of f, shrink by one measurement at x by

        gain(x) = 1/k sum_j Cov[g_j, f(x)]^2 / (Var f(x) + sigma^2)

    in the mean of their variances. With the one quantity f(z) - f(z') it is what the measurement takes off the variance of
    the pair being separated (as `eager_move.gains_of` on finite plants); with f at places spread over the box, what it takes
    off the uncertainty everywhere.

    Parameters
    ----------
    surrogate
        The belief in which pending visits count as made.
    covariance
        x -> Cov[g_j, f(x)] of the k quantities.
    noise_variance
        sigma^2 of the measurement.
    """

    def __init__(self, surrogate: ContinuousBelief, covariance: KernelExpansion, noise_variance: float) -> None:
        self.surrogate, self.covariance, self.noise_variance = surrogate, covariance, noise_variance

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
    return scrambled_sobol(dimension, PLACES) - 0.5
