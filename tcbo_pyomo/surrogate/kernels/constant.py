"""An unknown level: f is the same everywhere, and nobody knows exactly where.

f(x) = w with w ~ N(weight_mean, weight_variance). Added to a stationary kernel it is a constant prior mean that is integrated
out: measurements tell the level, and its uncertainty stays in every prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature


@dataclass(frozen=True)
class Constant(SingleFeature):
    """The feature 1; `weight_mean` and `weight_variance` are those of the level."""

    def feature(self, points: Array) -> Array:
        """One at each of n points."""
        return np.ones(len(points))

    def feature_gradient(self, points: Array) -> Array:
        """Zero, n x d."""
        return np.zeros_like(points, dtype=float)

    def feature_hessian(self, points: Array) -> Array:
        """Zero, n x d x d."""
        return np.zeros((*points.shape, points.shape[1]))

    def feature_expression(self, point: Sequence[Any]) -> Any:
        """One, whatever the point."""
        return 1.0
