"""Rows that add up over an episode, as a path of a deterministic process sees them: sums of numbers of its moves.

A path visits one pair at each step, so a row of the polytope comes to the sum of its coefficients at those moves. Every
finite bound of a row is one limit from above,

    sum_h coefficient_r(h, pair_h) <= limit_r,

and a row about the moves of a single step only says which of them may be made. Rows with variables of the user's own are not
sums of this kind; without them the rest allows too much, and `complete` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.worst_case_budget import SLACK
from tcbo_pyomo.plant.process import Process

if TYPE_CHECKING:
    from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope

MOST_ROWS = 64
"""More limits than this are not followed; the rest allows too much, and `complete` says so."""


@dataclass(frozen=True, eq=False)
class PathRows:
    """The limits of the paths of one episode from one state on.

    Attributes
    ----------
    process, horizon
        The plant and the moves of an episode.
    state, first_step
        Where the paths begin.
    move_step, move_pair
        The M moves that a path may make, by step and in it by pair.
    coefficients
        M x R, what a move adds to each sum.
    limits
        R limits from above, for the moves from `first_step` on.
    complete
        Whether a path that keeps these limits keeps every row.
    """

    process: Process
    horizon: int
    state: int
    first_step: int
    move_step: Integers
    move_pair: Integers
    coefficients: sparse.csr_matrix
    limits: Array
    complete: bool

    @cached_property
    def offsets(self) -> Integers:
        """H + 1 offsets: the moves of step h are offsets[h] .. offsets[h + 1] - 1."""
        return np.searchsorted(self.move_step, np.arange(self.horizon + 1))

    @cached_property
    def left(self) -> Integers:
        """The state that each move leaves."""
        return self.process.pair_state[self.move_pair]

    @cached_property
    def arrived(self) -> Integers:
        """The state that each move leads to."""
        return self.process.successor[self.move_pair]

    @cached_property
    def span(self) -> tuple[Integers, Integers]:
        """For each limit the first and the last step whose moves count."""
        entries = self.coefficients.tocoo()
        first, last = np.full(len(self.limits), self.horizon), np.full(len(self.limits), -1)
        np.minimum.at(first, entries.col, self.move_step[entries.row])
        np.maximum.at(last, entries.col, self.move_step[entries.row])
        return first, last

    def block(self, step: int, rows: Integers) -> Array:
        """What the moves of a step add to some of the sums, one line per move."""
        part = self.coefficients[self.offsets[step] : self.offsets[step + 1]]
        return np.asarray(part[:, rows].toarray())

    @cached_property
    def least_before(self) -> Array:
        """(H + 1) x n x R: the least that any path has added to each sum when it is in a state before a step."""
        least = np.full((self.horizon + 1, self.process.number_of_states, len(self.limits)), np.inf)
        least[self.first_step, self.state] = 0.0
        every = np.arange(len(self.limits))
        for step in range(self.first_step, self.horizon):
            moves = slice(self.offsets[step], self.offsets[step + 1])
            order = np.argsort(self.arrived[moves], kind="stable")
            reached, first = np.unique(self.arrived[moves][order], return_index=True)
            so_far = least[step, self.left[moves]] + self.block(step, every)
            least[step + 1, reached] = np.minimum.reduceat(so_far[order], first, axis=0)
        return least

    @cached_property
    def least_after(self) -> Array:
        """(H + 1) x n x R: the least that any rest of the episode adds to each sum; infinite where there is none."""
        least = np.full((self.horizon + 1, self.process.number_of_states, len(self.limits)), np.inf)
        least[self.horizon] = 0.0
        every = np.arange(len(self.limits))
        for step in range(self.horizon - 1, self.first_step - 1, -1):
            moves = slice(self.offsets[step], self.offsets[step + 1])
            here, first = np.unique(self.left[moves], return_index=True)
            to_come = self.block(step, every) + least[step + 1, self.arrived[moves]]
            least[step, here] = np.minimum.reduceat(to_come, first, axis=0)
        return least


def rows_of_budgets(sets: EpisodeSets, start: int, budgets: Sequence[Budget]) -> PathRows:
    """The limits where budgets are all that couples the steps: no model has to be built."""
    pairs_by_step = sets.pairs_by_step(start)
    step = np.repeat(np.arange(sets.horizon), [len(pairs) for pairs in pairs_by_step])
    pair = np.concatenate(pairs_by_step)
    costs = [budget.transition_cost(sets.process)[pair] for budget in budgets]
    limits = np.array([budget.limit + SLACK * max(1.0, budget.limit) for budget in budgets])
    coefficients = sparse.csr_matrix(np.column_stack(costs))
    return PathRows(sets.process, sets.horizon, start, 0, step, pair, coefficients, limits, True)


def rows_of_polytope(polytope: CompiledPolytope, row_lower: Array, row_upper: Array) -> PathRows:
    """The limits of the paths from the root of a compiled polytope on, under bounds of its rows."""
    root, sets, moves = polytope.root, polytope.sets, len(polytope.move_pair)
    ahead, behind = np.arange(polytope.step_range(root.step)[0], moves), np.arange(root.step)
    rows, table = polytope.side_rows, polytope.side_matrix
    own = np.diff(table[:, moves:].indptr) > 0
    table, rows, step = table[~own], rows[~own], polytope.move_step[ahead]
    made = np.asarray(table[:, behind].sum(axis=1)).ravel()
    table = table[:, ahead]
    # As limits from above: the upper bounds, and the lower ones with the other sign.
    both = sparse.vstack([table, -table], format="csr")
    limits = np.concatenate([row_upper[rows] - made, made - row_lower[rows]])
    finite = np.flatnonzero(np.isfinite(limits))
    both, limits = both[finite], limits[finite]
    limits = limits + SLACK * np.maximum(1.0, np.abs(limits))
    usable, several = _about_single_steps(both, limits, step)
    followed = several[:MOST_ROWS]
    coefficients = both[followed][:, np.flatnonzero(usable)].T.tocsr()
    if not len(followed):
        # A limit that nothing adds to: the arrays are never empty, and still tell where a path can be.
        coefficients, limits, followed = sparse.csr_matrix((int(usable.sum()), 1)), np.zeros(1), np.zeros(1, np.int64)
    return PathRows(
        sets.process,
        sets.horizon,
        root.state,
        root.step,
        step[usable],
        polytope.move_pair[ahead][usable],
        coefficients,
        limits[followed],
        not own.any() and len(several) <= MOST_ROWS,
    )


def _about_single_steps(table: sparse.csr_matrix, limits: Array, step: Integers) -> tuple[Mask, Integers]:
    """Which moves the rows about one step allow, and which rows are about several steps (or none, and broken)."""
    usable, several = np.ones(len(step), dtype=bool), []
    for row, limit in enumerate(limits):
        entries = slice(table.indptr[row], table.indptr[row + 1])
        columns, values = table.indices[entries], table.data[entries]
        steps = np.unique(step[columns])
        if len(steps) != 1:
            if len(steps) or limit < 0.0:
                several.append(row)
            continue
        adds = np.zeros(len(step))
        adds[columns] = values
        usable &= (step != steps[0]) | (adds <= limit)
    return usable, np.array(several, dtype=np.int64)
