"""A recommended place and the places that may be better, as a belief sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tcbo_pyomo.foundation.arrays import Array


@dataclass(frozen=True)
class Rivals:
    """A recommended place and its rivals, as modelled: means and (co)variances that broadcast with each other.

    Attributes
    ----------
    best_mean, best_variance
        Of the recommended place.
    mean, variance, covariance
        Of each rival, and its covariance with the recommended place.
    deviation
        Standard deviation of the difference between each rival and the recommended place.
    """

    best_mean: Any
    best_variance: Any
    mean: Array
    variance: Array
    covariance: Array
    deviation: Array
