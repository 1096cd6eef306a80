"""Upper confidence bounds (appendix "Approximating the set of maximizers using Batch BayesOpt").

Z = { argmax over x of mean(x) + beta_i sd(x) : beta in linspace(0, 2.5, K) }
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from tcbo_pyomo.candidates.protocol import Plant
from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.candidates.search.uniform import uniform_points
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.settings import CandidateSettings
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief

LARGEST_MULTIPLIER = 2.5


class UpperConfidence:
    """Maximisers of `count` upper confidence bounds; uniform random points before the first measurement."""

    plant: ClassVar[Plant] = "continuous"

    def __init__(self, count: int = 25) -> None:
        if count < 1:
            raise BadInput(f"number of candidates {count!r} must be at least 1")
        self.count = count

    @classmethod
    def from_settings(cls, settings: CandidateSettings) -> Self:
        """With the count asked for."""
        return cls() if settings.count is None else cls(settings.count)

    def __call__(
        self,
        belief: ContinuousBelief,
        space: Allowed | None,
        generator: np.random.Generator,
        share_spent: float = 0.0,
    ) -> Array:
        """The candidates, count x d, in the order of their multipliers; all of them are allowed."""
        return self.up_to(LARGEST_MULTIPLIER, belief, space, generator)

    def up_to(
        self, largest: float, belief: ContinuousBelief, space: Allowed | None, generator: np.random.Generator
    ) -> Array:
        """The candidates with multipliers up to `largest`."""
        if len(belief.measured) == 0:
            return uniform_points(self.count, belief.dimension, generator, space)
        bounds = ConfidenceBounds(belief, np.linspace(0.0, largest, self.count))
        found = global_maxima(bounds, belief.dimension, space, belief.measured)
        # The bounds are alike: what one search found may be better for another bound than its own maximum.
        if (bounds.value(found.points).max(axis=0) > found.values + 1e-9).any():
            again = global_maxima(bounds, belief.dimension, space, found.points)
            return np.where((again.values > found.values)[:, None], again.points, found.points)
        return found.points
