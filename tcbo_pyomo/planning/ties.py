"""One of the best, where several are as good."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array


def one_of_the_largest(values: Array, share: float, generator: np.random.Generator) -> int:
    """The position of the largest value; among those that differ from it by less than a share of it, one at random."""
    best = values.max()
    ties = np.flatnonzero(values >= best - share * abs(best))
    return int(ties[0]) if len(ties) == 1 else int(generator.choice(ties))
