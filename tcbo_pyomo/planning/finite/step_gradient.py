"""A linear function of a visitation that may know the last move of an episode: what a linear oracle minimises.

A gradient is one array of P values, one per state-action pair; or 2 x P, where row 0 holds for every move but the last one
of an episode, and row 1 for the last. Whoever adds costs up over the steps of an episode reads it here.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask


def of_step(gradient: Array, last: bool) -> Array:
    """The values of all pairs (P) at a step, which may be the last of the episode."""
    return gradient if gradient.ndim == 1 else gradient[int(last)]


def of_moves(gradient: Array, last: Mask, pair: Integers) -> Array:
    """The values of some moves, one each: their pairs, and whether each is the last of the episode."""
    return gradient[pair] if gradient.ndim == 1 else gradient[last.astype(np.int64), pair]


def by_step(gradient: Array, steps: int) -> Array:
    """The values of all pairs at each of the last steps of an episode (steps x P), as a new array."""
    costs = np.tile(of_step(gradient, False), (steps, 1))
    costs[-1] = of_step(gradient, True)
    return costs
