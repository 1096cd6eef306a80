"""Expected Improvement (Saltenis 1971): by how much a point is expected to beat the incumbent.

    EI(x) = E[max(f(x) - best, 0)] = sd(x) (u Phi(u) + phi(u)),   u = (mean(x) - best) / sd(x)

with Phi and phi the distribution and density of the standard normal; its gradient is Phi(u) mean'(x) + phi(u) sd'(x).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief


def best_observation(history: History) -> float:
    """The incumbent: the largest measurement told, 0 before the first one."""
    return max((value for _, value in history.measurements), default=0.0)


def expected_improvement(mean: Array, deviation: Array, incumbent: float) -> Array:
    """EI of n points; where nothing is uncertain, the certain improvement."""
    gain = mean - incumbent
    certain = deviation <= 0.0
    u = gain / np.where(certain, 1.0, deviation)
    # Far below the incumbent the two terms cancel and rounding may leave a negative number.
    improvement = np.maximum(gain * ndtr(u) + deviation * _density(u), 0.0)
    return np.where(certain, np.maximum(gain, 0.0), improvement)


class ImprovementSurface:
    """EI on a box with its gradient: one of the `Functions` that can be maximised."""

    count = 1

    def __init__(self, surrogate: ContinuousBelief, incumbent: float) -> None:
        self.surrogate, self.incumbent = surrogate, incumbent

    def rough(self) -> ImprovementSurface:
        """Itself: standard deviations need double precision."""
        return self

    def value(self, points: Array) -> Array:
        """EI at n points, n x 1."""
        deviation = self.surrogate.standard_deviation(points)
        return expected_improvement(self.surrogate.mean(points), deviation, self.incumbent)[:, None]

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """EI (n) and its gradient (n x d)."""
        mean, mean_slope = self.surrogate.mean_and_gradient(points)
        deviation, deviation_slope = self.surrogate.standard_deviation_and_gradient(points)
        u = (mean - self.incumbent) / deviation
        gradient = ndtr(u)[:, None] * mean_slope + _density(u)[:, None] * deviation_slope
        return expected_improvement(mean, deviation, self.incumbent), gradient


def _density(u: Array) -> Array:
    return np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
