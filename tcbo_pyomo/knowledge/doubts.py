"""Results that may be slips of the pen: where a campaign learns, a few unlikely results do not upset its model.

A result that nobody expected and nobody confirmed is a slip, or it shows that the model is wrong. Slips are rare, and a wrong
model surprises again and again. So as long as such results are few they are doubted: lengthscales and noise are learned without
them, and in the belief they count as if they were noisy. Where they are more, all of them count in full. A doubted result
keeps its place in the record; `confirm` ends the doubt.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.knowledge.plausibility import Surprise

FEW = 20
"""One doubted result, and one more for so many results: above that the model is wrong and not the results."""
AS_FAR = 2.0
"""A doubted result is believed to be as noisy as if it lay so many standard deviations from what was expected."""


def doubts(surprises: Sequence[Surprise | None]) -> Array:
    """A factor on the noise variance of each of n results (n): 1 for those that are believed.

    Parameters
    ----------
    surprises
        For each result what was expected of it, where it was unlikely; None otherwise.
    """
    factors = np.ones(len(surprises))
    odd = [(i, found.deviations) for i, found in enumerate(surprises) if found is not None and not found.confirmed]
    if 0 < len(odd) <= 1 + len(surprises) // FEW:
        for position, deviations in odd:
            factors[position] = (deviations / AS_FAR) ** 2
    return factors
