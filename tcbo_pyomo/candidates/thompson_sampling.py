"""Thompson sampling (appendix "Approximating the set of maximizers using Batch BayesOpt").

Z = { argmax over x of f_i(x) : f_i drawn from the posterior, i = 1..K }
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.counted_points import CountedPoints
from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief


class ThompsonSampling(CountedPoints):
    """Maximisers of `count` posterior samples; uniform random points before the first measurement."""

    def maximisers(self, belief: ContinuousBelief, space: Allowed | None, generator: np.random.Generator) -> Array:
        """One of each sample."""
        samples = belief.samples(self.count, generator)
        return global_maxima(samples, belief.dimension, space, belief.measured).points
