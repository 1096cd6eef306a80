"""Backward induction for D rewards at once: the same recursion as `planning/finite/dynamic_programming.py`, draws side by side.

V_h(x) = min over allowed a of  cost_h(x, a) + sum_x' P(x'|x, a) V_{h+1}(x')

States stand in rows and draws in columns, so that the values of one state are contiguous for all draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.models.safe_sets import EpisodeSets, leads_only_to

MOST_REPEATED = 3
"""A rectangle of moves may have so many times as many entries as there are pairs."""


@dataclass(frozen=True)
class Costs:
    """What each move costs (never positive: what it teaches), for D draws.

    Attributes
    ----------
    arrival
        n x D: where a move costs only what the state costs that it arrives at; None where moves differ.
    pairs, last_pairs
        P x D: what each pair costs in any step, and in the last one of an episode; None where `arrival` says it.
    """

    arrival: Array | None
    pairs: Array | None = None
    last_pairs: Array | None = None

    def of_pairs(self, step_is_last: bool) -> Array:
        """P x D values of a step."""
        assert self.pairs is not None and self.last_pairs is not None
        return self.last_pairs if step_is_last else self.pairs


class BatchedInduction:
    """The recursion on the safe sets of one problem.

    Attributes
    ----------
    table
        The pairs of each state as a rectangle (most moves of a state x n), filled up with P.
    """

    def __init__(self, sets: EpisodeSets) -> None:
        process = sets.process
        self.process, self.sets, self.horizon = process, sets, sets.horizon
        number, pairs = process.number_of_states, process.number_of_pairs
        moves = np.diff(process.pair_offsets)
        rank = np.arange(moves.max())[:, None]
        self.table: Integers = np.where(rank < moves, process.pair_offsets[:-1] + rank, pairs)
        self._arrivals: Integers | None = None
        if process.deterministic and self.table.size <= MOST_REPEATED * pairs:
            # A move that is absent or forbidden leads to one more state, of infinite cost.
            leads = np.where(sets.allowed_pairs, process.successor, number)
            self._arrivals = np.append(leads, number)[self.table]
        self._usable: dict[int, Mask] = {}

    @cached_property
    def likeliest(self) -> Integers:
        """The likeliest successor of each pair."""
        process = self.process
        if process.deterministic:
            return process.successor
        order = np.lexsort((process.transitions.data, process.transition_pair))
        return process.transitions.indices[order[process.transitions.indptr[1:] - 1]].astype(np.int64)

    def usable(self, step: int) -> Mask:
        """Which pairs (and one more, which is not there) are allowed and lead only to safe states after a step."""
        if step not in self._usable:
            usable = self.sets.allowed_pairs & leads_only_to(self.process, self.sets.safe[step + 1])
            self._usable[step] = np.append(usable, False)
        return self._usable[step]

    def values_after(self, costs: Costs, step: int, kept: list[Array] | None = None) -> Array:
        """V_{step + 1}: (n + 1) x D values of the states after a step, infinite in the last row and where no episode may be.

        Copies of V_H, V_{H - 1}, .. V_{step + 1} are appended to `kept`.
        """
        draws = next(part.shape[1] for part in (costs.arrival, costs.pairs) if part is not None)
        values = np.empty((self.process.number_of_states + 1, draws))
        values[-1] = np.inf
        self._close(values, self.horizon, 0.0)
        if self._arrivals is None:
            step_back = self._by_segments
        else:
            step_back = self._by_rectangle
            self._gathered = np.empty((self._arrivals.size, draws))
        for at in range(self.horizon - 1, step, -1):
            if kept is not None:
                kept.append(values.copy())
            step_back(values, costs, at)
            self._close(values, at)
        if kept is not None:
            kept.append(values)
        return values

    def _close(self, values: Array, step: int, elsewhere: float | None = None) -> None:
        """Infinite where no episode may be before a step."""
        if elsewhere is not None:
            values[:-1] = elsewhere
        closed = ~self.sets.safe[step]
        if closed.any():
            values[:-1][closed] = np.inf

    def _by_rectangle(self, values: Array, costs: Costs, step: int) -> None:
        assert self._arrivals is not None
        if costs.arrival is not None:
            values[:-1] += costs.arrival
        np.take(values, self._arrivals.ravel(), axis=0, out=self._gathered, mode="clip")
        if costs.arrival is None:
            cost = costs.of_pairs(step == self.horizon - 1)
            self._gathered += np.take(cost, self.table.ravel(), axis=0, mode="clip")
        rectangle = self._gathered.reshape(*self.table.shape, -1)
        np.minimum.reduce(rectangle, axis=0, out=values[:-1])

    def _by_segments(self, values: Array, costs: Costs, step: int) -> None:
        to_go = self.of_pairs(values, costs, step)
        to_go[~self.sets.allowed_pairs] = np.inf
        np.minimum.reduceat(to_go, self.process.pair_offsets[:-1], axis=0, out=values[:-1])

    def of_pairs(self, values: Array, costs: Costs, step: int) -> Array:
        """What each pair costs in a step with the best rest, given V_{step + 1}: P x D."""
        ahead = values[:-1] if costs.arrival is None else values[:-1] + costs.arrival
        to_go = np.asarray(self.process.expected(ahead))
        return to_go if costs.arrival is not None else to_go + costs.of_pairs(step == self.horizon - 1)
