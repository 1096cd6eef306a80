"""Which places may beat the recommendation: few of many, when it is nearly known."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers

NEGLIGIBLE = 1e-3
"""All places that are left out are better with this probability at most."""
MOST_RIVALS = 512
"""Of many only so many, the most probable ones."""


def chance_above(mean: Array, deviation: Array) -> Array:
    """P(y > 0) of normal values."""
    from scipy.special import ndtr  # Slow to load, and only a stop asks for it.

    return np.asarray(ndtr(mean / np.maximum(deviation, np.finfo(float).tiny)))


def likely_rivals(chance: Array) -> tuple[Integers, Array]:
    """Positions of the places that are better with some probability, the most probable first, and those probabilities.

    Parameters
    ----------
    chance
        How probable it is that each place is better.
    """
    order = np.argsort(-chance, kind="stable")
    left_out = np.cumsum(chance[order][::-1])[::-1] <= NEGLIGIBLE
    chosen = order[~left_out][:MOST_RIVALS]
    return chosen, chance[chosen]
