"""From the end of the episode backwards, one step at a time: what backward induction and worst-case budgets share.

    V_H(x) = 0 where an episode may end, else infinite
    V_h(x) = min over allowed a of  Q_h(x, a; V_{h+1})   where an episode may be at step h, else infinite

Infinite values carry "cannot be completed" backwards, so the end of the episode needs no extra care.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.safe_sets import EpisodeSets

StepBack = Callable[[int, Array, Array], None]
"""Called with a step h and V_{h+1} (n); writes the best over the moves of every state into its third argument (n)."""


class BackwardRecursion:
    """The recursion on the safe sets of one process; Q is what differs between its uses."""

    def __init__(self, sets: EpisodeSets) -> None:
        self.sets = sets
        self._end = np.where(sets.safe[-1], 0.0, np.inf)
        self._closed = ~sets.safe
        self._any_closed = np.asarray(self._closed.any(axis=1))

    def values(self, first_step: int, step_back: StepBack) -> Array:
        """V_h for h = first_step .. H, as an array (H - first_step + 1) x n."""
        steps = self.sets.horizon - first_step
        values = np.empty((steps + 1, self.sets.process.number_of_states))
        values[steps] = self._end
        for row in range(steps - 1, -1, -1):
            step_back(first_step + row, values[row + 1], values[row])
            if self._any_closed[first_step + row]:
                np.copyto(values[row], np.inf, where=self._closed[first_step + row])
        return values

    def best_of(self, pair_values: Callable[[int, Array], Array]) -> StepBack:
        """The step back for Q as a function of a step and V_{h+1}, one value per pair (P)."""
        first_pair, allowed = self.sets.process.pair_offsets[:-1], self.sets.allowed_pairs

        def step_back(step: int, ahead: Array, here: Array) -> None:
            np.minimum.reduceat(np.where(allowed, pair_values(step, ahead), np.inf), first_pair, out=here)

        return step_back
