"""Which places may beat the recommendation: few of many, when it is nearly known."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers

NEGLIGIBLE = 1e-3
"""All places that are left out are better with this probability at most."""
MOST_RIVALS = 512
"""Of many only so many, the most probable ones."""


def likely_rivals(gap: Array, deviation: Array) -> tuple[Integers, Array]:
    """Positions of the places that are better with some probability, the most probable first, and those probabilities.

    Parameters
    ----------
    gap, deviation
        How much the mean of each place is below what it has to exceed, and the standard deviation of the difference.
    """
    from scipy.special import ndtr  # Slow to load, and only a stop asks for it.

    chance = np.asarray(ndtr(-gap / np.maximum(deviation, np.finfo(float).tiny)))
    order = np.argsort(-chance, kind="stable")
    left_out = np.cumsum(chance[order][::-1])[::-1] <= NEGLIGIBLE
    chosen = order[~left_out][:MOST_RIVALS]
    return chosen, chance[chosen]
