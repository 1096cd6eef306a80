"""Thompson sampling (appendix "Approximating the set of maximizers using Batch BayesOpt").

Z = { argmax over x of f_i(x) : f_i drawn from the posterior, i = 1..K }
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.candidates.search.uniform import uniform_points
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief


class ThompsonSampling:
    """Maximisers of `count` posterior samples; uniform random points before the first measurement."""

    def __init__(self, count: int = 100) -> None:
        if count < 1:
            raise BadInput(f"number of candidates {count!r} must be at least 1")
        self.count = count

    def __call__(
        self, surrogate: ContinuousBelief, generator: np.random.Generator, allowed: Allowed | None = None
    ) -> Array:
        """The candidates, count x d; all of them are allowed."""
        if len(surrogate.measured) == 0:
            return uniform_points(self.count, surrogate.dimension, generator, allowed)
        samples = surrogate.samples(self.count, generator)
        return global_maxima(samples, surrogate.dimension, allowed, surrogate.measured).points
