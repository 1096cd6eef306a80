"""The variances that simulated plans see where moves count at the state they leave (`utility.information: departure`).

The counterpart of `knowledge/credited_visits.py`: a move counts at the state it left, the last one of an episode where it
arrived as well. Means and the recommendation follow from the results, which are measured where moves arrive.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.rehearsal.batched_beliefs import BatchedBeliefs
from tcbo_pyomo.rehearsal.standpoint import Standpoint


class DepartedVisits:
    """A history of departures for each of D campaigns.

    Parameters
    ----------
    standpoint
        Where the campaign stands.
    draws
        D.
    counts_pending
        Whether moves count at once, or when their results come.
    rows
        States whose covariances with all others are kept up to date.

    Attributes
    ----------
    beliefs
        Variances and covariances; the means in it are those before the first simulated move.
    """

    def __init__(self, standpoint: Standpoint, draws: int, counts_pending: bool, rows: Integers | None) -> None:
        moves = standpoint.moves_left + len(standpoint.pending)
        covariance = standpoint.departed_covariance("counted" if counts_pending else "ignored")
        # The last move of an episode counts twice, and an episode may be one move long.
        self.beliefs = BatchedBeliefs(standpoint.mean, covariance, draws, 2 * moves, rows)

    def count(self, origins: Integers | None, arrived: Integers, noise_variance: Array, last: bool) -> None:
        """A move of each campaign (D); `origins` is None for a measurement of the start, `last` at the end of an episode."""
        if origins is not None:
            self.beliefs.visit(origins, noise_variance)
        if origins is None or last:
            self.beliefs.visit(arrived, noise_variance)


def same_for_all(state: int | None, draws: int) -> Integers | None:
    """One state for each draw; None for None."""
    return None if state is None else np.full(draws, state)
