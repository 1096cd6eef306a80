"""Upper confidence bounds (appendix "Approximating the set of maximizers using Batch BayesOpt").

Z = { argmax over x of mean(x) + beta_i sd(x) : beta in linspace(0, 2.5, K) }
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.candidates.search.uniform import uniform_points
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief

LARGEST_MULTIPLIER = 2.5


class UpperConfidence:
    """Maximisers of `count` upper confidence bounds; uniform random points before the first measurement."""

    def __init__(self, count: int = 25) -> None:
        if count < 1:
            raise BadInput(f"number of candidates {count!r} must be at least 1")
        self.count = count

    def __call__(
        self,
        surrogate: ContinuousBelief,
        generator: np.random.Generator,
        allowed: Allowed | None = None,
        largest: float = LARGEST_MULTIPLIER,
    ) -> Array:
        """The candidates, count x d, in the order of their multipliers up to `largest`; all of them are allowed."""
        if len(surrogate.measured) == 0:
            return uniform_points(self.count, surrogate.dimension, generator, allowed)
        bounds = ConfidenceBounds(surrogate, np.linspace(0.0, largest, self.count))
        found = global_maxima(bounds, surrogate.dimension, allowed, surrogate.measured)
        # The bounds are alike: what one search found may be better for another bound than its own maximum.
        if (bounds.value(found.points).max(axis=0) > found.values + 1e-9).any():
            again = global_maxima(bounds, surrogate.dimension, allowed, found.points)
            return np.where((again.values > found.values)[:, None], again.points, found.points)
        return found.points
