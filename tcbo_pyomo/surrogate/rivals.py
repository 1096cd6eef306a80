"""A recommended place and the places that may be better, as a belief sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers


@dataclass(frozen=True)
class Rivals:
    """A recommended place and its rivals, as modelled: means and (co)variances that broadcast with each other.

    Attributes
    ----------
    best_mean, best_variance
        Of the recommended place.
    mean, variance, covariance
        Of each rival, and its covariance with the recommended place.
    """

    best_mean: Any
    best_variance: Any
    mean: Array
    variance: Array
    covariance: Array

    @property
    def deviation(self) -> Array:
        """Standard deviation of the difference between each rival and the recommended place."""
        return np.sqrt(np.maximum(self.variance + self.best_variance - 2.0 * self.covariance, 0.0))

    def only(self, chosen: Integers) -> Rivals:
        """Some of the rivals."""
        kept = (part[chosen] for part in (self.mean, self.variance, self.covariance))
        return Rivals(self.best_mean, self.best_variance, *kept)
