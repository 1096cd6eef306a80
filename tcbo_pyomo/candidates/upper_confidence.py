"""Upper confidence bounds (appendix "Approximating the set of maximizers using Batch BayesOpt").

Z = { argmax over x of mean(x) + beta_i sd(x) : beta in linspace(0, 2.5, K) }
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tcbo_pyomo.candidates.counted_points import CountedPoints
from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.goal import Goal

LARGEST_MULTIPLIER = 2.5


class UpperConfidence(CountedPoints):
    """Maximisers of `count` upper confidence bounds; uniform random points before the first measurement."""

    usual: ClassVar[int] = 25

    def __init__(self, count: int | None = None, largest: float = LARGEST_MULTIPLIER) -> None:
        super().__init__(count)
        self.largest = largest

    def best_points(
        self, belief: ContinuousBelief, space: Allowed | None, generator: np.random.Generator, goal: Goal
    ) -> Array:
        """One of each bound, in the order of their multipliers."""
        bounds = ConfidenceBounds(belief, np.linspace(0.0, self.largest, self.count), goal)
        found = global_maxima(bounds, belief.dimension, space, belief.measured)
        # The bounds are alike: what one search found may be better for another bound than its own maximum.
        if (bounds.value(found.points).max(axis=0) > found.values + 1e-9).any():
            again = global_maxima(bounds, belief.dimension, space, found.points)
            return np.where((again.values > found.values)[:, None], again.points, found.points)
        return found.points
