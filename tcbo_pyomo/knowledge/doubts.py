"""Results that may be slips of the pen: where a campaign learns, a few unlikely results do not upset its model.

A result that nobody expected and nobody confirmed is a slip, or it shows that the model is wrong. Slips are rare, and a wrong
model surprises again and again, by similar amounts. So as long as such results are few, or a few of them lie far beyond the
others, these are doubted: lengthscales and noise are learned without them, and in the belief they count as if they were noisy.
The others count in full. A doubted result keeps its place in the record; `confirm` ends the doubt.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.knowledge.plausibility import Surprise
from tcbo_pyomo.surrogate.output_scale import OutputScale

FEW = 20
"""One doubted result, and one more for so many results: above that the model is wrong and not the results."""
BEYOND = 2.0
"""Where more are unlikely, those are doubted that are this many times farther from what was expected than all others."""
AS_FAR = 2.0
"""A doubted result is believed to be as noisy as if it lay so many standard deviations from what was expected."""


def doubts(values: Sequence[float], surprises: Sequence[Surprise | None], scale: OutputScale) -> Array:
    """What is added to the noise variance of each of n results, as they are modelled: 0 for those that are believed.

    Parameters
    ----------
    values, surprises
        The results, and what was expected of each, where it was unlikely; None otherwise.
    scale
        On which the output is modelled.
    """
    added = np.zeros(len(values))
    odd = [(i, found.expected) for i, found in enumerate(surprises) if found is not None and not found.confirmed]
    away = np.array([abs(scale.modelled(values[i]) - scale.modelled(expected)) for i, expected in odd])
    order = np.argsort(-away, kind="stable")
    farther = np.append(away[order], 0.0)
    stand_out = [n for n in range(1, len(odd) + 1) if n <= 1 + len(values) // FEW and farther[n - 1] > BEYOND * farther[n]]
    for position in order[: max(stand_out, default=0)]:
        added[odd[position][0]] = (away[position] / AS_FAR) ** 2
    return added
