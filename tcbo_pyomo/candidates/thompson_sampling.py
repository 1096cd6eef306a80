"""Thompson sampling (appendix "Approximating the set of maximizers using Batch BayesOpt").

Z = { argmax over x of f_i(x) : f_i drawn from the posterior, i = 1..K }
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
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief


class ThompsonSampling:
    """Maximisers of `count` posterior samples; uniform random points before the first measurement."""

    plant: ClassVar[Plant] = "continuous"

    def __init__(self, count: int = 100) -> None:
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
        """The candidates, count x d; all of them are allowed."""
        if len(belief.measured) == 0:
            return uniform_points(self.count, belief.dimension, generator, space)
        samples = belief.samples(self.count, generator)
        return global_maxima(samples, belief.dimension, space, belief.measured).points
