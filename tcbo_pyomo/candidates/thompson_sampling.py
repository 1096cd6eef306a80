"""Thompson sampling (appendix "Approximating the set of maximizers using Batch BayesOpt").

Z = { argmax over x of f_i(x) : f_i drawn from the posterior, i = 1..K }

Another goal than the largest output has the argmin of f_i, or of |f_i - target|, in place of the argmax.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.counted_points import CountedPoints
from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.acquisition import drawn_scores
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.goal import Goal


class ThompsonSampling(CountedPoints):
    """Where `count` posterior samples are best; uniform random points before the first measurement."""

    def best_points(
        self, belief: ContinuousBelief, space: Allowed | None, generator: np.random.Generator, goal: Goal
    ) -> Array:
        """One of each sample."""
        samples = drawn_scores(belief, goal, self.count, generator)
        return global_maxima(samples, belief.dimension, space, belief.measured).points
