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
    gain = mean - incumbent
    certain = deviation <= 0.0
    u = gain / np.where(certain, 1.0, deviation)
    # Far below the incumbent the two terms cancel and rounding may leave a negative number.
    improvement = np.maximum(gain * distribution(u) + deviation * density(u), 0.0)
    return np.where(certain, np.maximum(gain, 0.0), improvement)


def distribution(u: Array) -> Array:
    """Distribution function of the standard normal."""
    from scipy.special import ndtr  # Slow to load, and whoever recommends needs no improvement.

    return np.asarray(ndtr(u))


def density(u: Array) -> Array:
    """Density of the standard normal; also the slope of EI in the standard deviation, at u = (mean - best) / sd."""
    return np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
