"""The recommendation: the point of the box with the largest posterior mean (section 5, "predictive regret")."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief


def best_mean(surrogate: ContinuousBelief, candidates: Array | None = None, allowed: Allowed | None = None) -> Array:
    """The global maximiser of the posterior mean, a scaled point (d).

    Parameters
    ----------
    surrogate
        The belief.
    candidates
        n x d points that are good already, such as the candidates of the last step; the search starts from the
        best of them and of the measured points, and from a fixed survey of the box. It draws no random numbers.
    allowed
        Points where this is False are never returned.
    """
    known = [surrogate.measured] if candidates is None else [surrogate.measured, candidates]
    mean = ConfidenceBounds(surrogate, np.zeros(1))
    return global_maxima(mean, surrogate.dimension, allowed, np.vstack(known), along_edges=True).points[0]
