"""Expected improvement, and the normal distribution and density that it and its derivatives need."""

from __future__ import annotations

import math

import numpy as np

from tcbo_pyomo.foundation.arrays import Array


def expected_improvement(mean: Array, deviation: Array, incumbent: float | Array) -> Array:
    """Expected Improvement (Saltenis 1971) of n points: by how much each is expected to beat the incumbent.

    EI(x) = E[max(f(x) - best, 0)] = sd(x) (u Phi(u) + phi(u)), u = (mean(x) - best) / sd(x), with Phi and phi the
    distribution and density of the standard normal; where nothing is uncertain, the certain improvement.
    """
    return improvement_and_slope(mean - incumbent, deviation)[0]


def improvement_and_slope(gain: Array, deviation: Array) -> tuple[Array, Array]:
    """Expected improvement, given mean - best, and its slope in the standard deviation, phi(u); 0 where that is 0."""
    certain = deviation <= 0.0
    u = gain / np.where(certain, 1.0, deviation)
    slope = density(u)
    # Far below the incumbent the two terms cancel and rounding may leave a negative number.
    improvement = np.maximum(gain * distribution(u) + deviation * slope, 0.0)
    if not certain.any():
        return improvement, slope
    return np.where(certain, np.maximum(gain, 0.0), improvement), np.where(certain, 0.0, slope)


def distribution(u: Array) -> Array:
    """Distribution function of the standard normal."""
    from scipy.special import ndtr  # Slow to load, and whoever recommends needs no improvement.

    return np.asarray(ndtr(u))


def density(u: Array) -> Array:
    """Density of the standard normal."""
    return np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
