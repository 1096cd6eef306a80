"""Credible bands (section 3.1): a state is a candidate while its upper bound reaches the best lower bound.

Z = { x : mean(x) + width sd(x) >= max over x' of mean(x') - width sd(x') }
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Integers, Mask
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief


class CredibleBand:
    """Candidates among the states of a finite process."""

    def __init__(self, width: float) -> None:
        self.width = width

    def __call__(self, belief: FiniteBelief, search_space: Mask) -> Integers:
        """Indices of the states that may still be the maximum; at least one."""
        spread = self.width * belief.standard_deviation
        best_lower = (belief.mean - spread)[search_space].max()
        return np.flatnonzero((belief.mean + spread >= best_lower) & search_space)
