"""Labels: for every step and state the sums of the paths that no other path undercuts in all of them.

The classical method for paths under several limits. Of two ways to the same state at the same step one is useless when the
other has added less to every sum. What is left is kept, from the start on and from the end back:

    a path goes through x at step h and keeps every limit  <=>  some label before (h, x) and some label after it do together.

Every label is the sum of a real path, so two that fit are a proof even where labels were left out (at most `MOST` are kept in
one place); that nothing fits is a proof only where none was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.problem.path_rows import PathRows

MOST = 24
"""Labels that are kept in one state at one step."""
EQUAL = 1e-12
"""Sums that differ by less, as a share of their limit (of 1 for smaller limits), are the same."""


@dataclass(frozen=True, eq=False)
class LabelLayer:
    """The labels of one step, by state.

    Attributes
    ----------
    state
        The state of each label, not decreasing.
    sums
        One line per label, one column for each limit that is open here.
    """

    state: Integers
    sums: Array

    def of(self, states: Integers) -> tuple[Integers, Integers]:
        """For some states, one after the other: the position in `states` and the number of each of their labels."""
        first = np.searchsorted(self.state, states)
        number = np.searchsorted(self.state, states, side="right") - first
        position = np.repeat(np.arange(len(states)), number)
        begins = np.cumsum(number) - number
        return position, first[position] + np.arange(len(position)) - begins[position]


class PathLabels:
    """The labels of all paths of an episode; each direction is computed when it is first asked for.

    Attributes
    ----------
    left_out
        Whether labels had to be left out, as far as they have been computed.
    """

    def __init__(self, rows: PathRows) -> None:
        self.rows, self.left_out = rows, False
        self._size = np.maximum(1.0, np.abs(rows.limits))

    def open_at(self, step: int) -> Integers:
        """The limits to which both moves before and moves from `step` on add something."""
        first, last = self.rows.span
        return np.flatnonzero((first < step) & (step <= last))

    @cached_property
    def after(self) -> list[LabelLayer]:
        """From the end back: what the rest of the episode adds, for the steps first_step .. H."""
        rows, (first, last) = self.rows, self.rows.span
        layers = [LabelLayer(np.arange(rows.process.number_of_states), np.empty((rows.process.number_of_states, 0)))]
        for step in range(rows.horizon - 1, rows.first_step - 1, -1):
            moves = np.arange(rows.offsets[step], rows.offsets[step + 1])
            counted = np.flatnonzero((first <= step) & (step <= last))
            layers.append(
                self._next(layers[-1], step, (rows.arrived[moves], rows.left[moves]), (step + 1, step), counted)
            )
        return layers[::-1]

    @cached_property
    def before(self) -> list[LabelLayer]:
        """From the start on: what the moves so far have added, for the steps first_step .. H."""
        rows, (first, last) = self.rows, self.rows.span
        layers = [LabelLayer(np.array([rows.state]), np.zeros((1, len(self.open_at(rows.first_step)))))]
        for step in range(rows.first_step, rows.horizon):
            moves = np.arange(rows.offsets[step], rows.offsets[step + 1])
            counted = np.flatnonzero((first <= step) & (step <= last))
            layers.append(
                self._next(layers[-1], step, (rows.left[moves], rows.arrived[moves]), (step, step + 1), counted)
            )
        return layers

    def _next(
        self,
        known: LabelLayer,
        step: int,
        ends: tuple[Integers, Integers],
        layers: tuple[int, int],
        counted: Integers,
    ) -> LabelLayer:
        """One step further: every label of where a move comes from, with what the move adds."""
        rows, (origin, target) = self.rows, layers
        position, label = known.of(ends[0])
        sums = rows.block(step, counted)[position]
        open_before = np.isin(counted, self.open_at(origin))
        sums[:, open_before] += known.sums[label]
        state = ends[1][position]
        # With what the other side of the path adds at least.
        other = rows.least_before if target < origin else rows.least_after
        fits = (sums + other[target, state][:, counted] <= rows.limits[counted]).all(axis=1)
        stays = np.isin(counted, self.open_at(target))
        return self._undercut_by_none(state[fits], sums[fits][:, stays], self._size[counted[stays]])

    def _undercut_by_none(self, state: Integers, sums: Array, size: Array) -> LabelLayer:
        order = np.lexsort(((sums / size).sum(axis=1), state))
        state, sums = state[order], sums[order]
        left, kept = np.arange(len(state)), []
        for _ in range(MOST):
            if not len(left):
                break
            # The cheapest of each state is undercut by none; whatever it undercuts goes.
            leads = np.append(True, state[left][1:] != state[left][:-1])
            kept.append(left[leads])
            leader = left[leads][np.cumsum(leads) - 1]
            left = left[(sums[left] < sums[leader] - EQUAL * size).any(axis=1)]
        self.left_out |= len(left) > 0
        chosen = np.sort(np.concatenate(kept)) if kept else left
        return LabelLayer(state[chosen], sums[chosen])

    def met(self) -> Mask:
        """Which states some path goes through that keeps every limit that is followed, the start included."""
        rows, found = self.rows, np.zeros(self.rows.process.number_of_states, dtype=bool)
        for step, (before, after) in enumerate(zip(self.before, self.after, strict=True), rows.first_step):
            limits = rows.limits[self.open_at(step)]
            position, label = after.of(before.state)
            fits = (before.sums[position] + after.sums[label] <= limits).all(axis=1)
            found[before.state[position[fits]]] = True
        return found

    def may_be_met(self) -> Mask:
        """Which states each limit on its own allows a path to go through: certainly no others."""
        rows = self.rows
        return np.asarray((rows.least_before + rows.least_after <= rows.limits).all(axis=2).any(axis=0))

    def can_be_completed(self, step: int, state: int, left: Array) -> bool | None:
        """Whether a path from a state before a step adds no more than `left` to each sum; None where that is not known."""
        if not (self.rows.least_after[step, state] <= left).all():
            return False
        layer = self.after[step - self.rows.first_step]
        here = slice(*np.searchsorted(layer.state, [state, state + 1]))
        if (layer.sums[here] <= left[self.open_at(step)]).all(axis=1).any():
            return True if self.rows.complete else None
        return None if self.left_out else False
