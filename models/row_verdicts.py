"""Rows of a rule at a path of a finite process: what each step adds, by the move made or by any that may still come.

A path visits one pair per step and arrives in one state, so a row comes to the sum of its coefficients there. Steps still to
come add at least the smallest and at most the largest coefficient of their moves: what no continuation can repair is broken
already. Rows with variables of the rule's own are kept when some values of those variables keep them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.models.episode_path import TOLERANCE, JudgedRow, allowance
from tcbo_pyomo.models.linear_rows import LinearRow, RuleRows
from tcbo_pyomo.models.own_variables import smallest_miss


@dataclass(frozen=True, eq=False)
class PathOptions:
    """What a path leaves open.

    Attributes
    ----------
    columns
        For each step of the episode the columns that one option of it fills (options x 1, or x 2 with the arrival): the
        move made, or any that may come.
    possible
        The same before any move was made.
    made
        How many moves were made.
    unknown
        How many of them the plant's model does not have.
    """

    columns: Sequence[Integers]
    possible: Sequence[Integers]
    made: int
    unknown: int

    def after(self, moves: int) -> list[Integers]:
        """The options when only the first moves were made."""
        return [*self.columns[:moves], *self.possible[moves:]]


def judged_rows(rule: RuleRows, options: PathOptions) -> list[JudgedRow]:
    """The rows of a rule at a path; those with variables of its own together, as one."""
    found = [_judged(row, options) for row in rule.rows if not row.own]
    together = [row for row in rule.rows if row.own]
    return [*found, _judged_together(together, rule, options)] if together else found


def _judged(row: LinearRow, options: PathOptions) -> JudgedRow:
    adds, comes = (
        np.array([_extremes(row.coefficients, at) for at in steps]).reshape(-1, 2).T
        for steps in (options.columns, options.possible)
    )
    made = options.made
    so_far = row.constant + np.cumsum(adds[:, :made], axis=1)
    at_end = so_far + comes.sum(axis=1, keepdims=True) - np.cumsum(comes, axis=1)[:, :made]
    over, under = at_end[0] > row.upper + allowance(row.upper), at_end[1] < row.lower - allowance(row.lower)
    broken = np.flatnonzero(over | under)
    side = 0 if np.isfinite(row.upper) else 1
    value = so_far[side, -1] if made else row.constant
    if len(broken):
        value = at_end[0 if over[broken[0]] else 1, broken[0]]
    last = at_end[:, -1] if made else row.constant + comes.sum(axis=1)
    room = float(min(row.upper - last[0], last[1] - row.lower))
    broken_at = int(broken[0]) if len(broken) else None
    return JudgedRow(row.name, row.component, float(value), row.lower, row.upper, room, broken_at, options.unknown)


def _extremes(coefficients: Array, options: Integers) -> tuple[float, float]:
    if len(options) == 0:
        return 0.0, 0.0
    sums = coefficients[options].sum(axis=1)
    return float(sums.min()), float(sums.max())


def _judged_together(rows: Sequence[LinearRow], rule: RuleRows, options: PathOptions) -> JudgedRow:
    """One verdict on all rows with variables of the rule's own."""
    misses = _misses(rows, rule, options.columns)
    broken_at = None
    if misses > TOLERANCE:
        first, last = 0, options.made - 1
        while first < last:
            middle = (first + last) // 2
            if _misses(rows, rule, options.after(middle + 1)) > TOLERANCE:
                last = middle
            else:
                first = middle + 1
        broken_at = max(first, 0)
    names, own = (", ".join(_some(names)) for names in ([r.name for r in rows], [v.name for v in rule.own]))
    words = f"no value of {own} keeps {names}" if broken_at is not None else ""
    miss = float("inf") if not np.isfinite(misses) else misses
    room = None if broken_at is None else -miss
    return JudgedRow(names, rows[0].component, miss, -np.inf, 0.0, room, broken_at, options.unknown, words)


def _some(names: Sequence[str]) -> list[str]:
    return [*names[:3], f"and {len(names) - 3} more"] if len(names) > 3 else list(names)


def _misses(rows: Sequence[LinearRow], rule: RuleRows, options: Sequence[Integers]) -> float:
    """The smallest miss over what is open: which option each step takes, and the variables of the rule's own."""
    import scipy.sparse as sparse  # Slow to load, and few rules have variables of their own.

    coefficients = np.array([row.coefficients for row in rows])
    constant = np.array([row.constant for row in rows])
    steps = [coefficients[:, at].sum(axis=2) for at in options if len(at)]
    constant = constant + sum((step[:, 0] for step in steps if step.shape[1] == 1), np.zeros(len(rows)))
    open_steps = [step for step in steps if step.shape[1] > 1]
    chosen = sum(step.shape[1] for step in open_steps)
    own = np.zeros((len(rows), len(rule.own)))
    for index, row in enumerate(rows):
        for position, number in row.own:
            own[index, position] += number
    one_each = sparse.block_diag([np.ones((1, step.shape[1])) for step in open_steps]) if open_steps else None
    parts = [sparse.csr_matrix(np.hstack([*open_steps, own]))]
    lower, upper = np.array([row.lower for row in rows]) - constant, np.array([row.upper for row in rows]) - constant
    if one_each is not None:
        parts.append(sparse.hstack([one_each, sparse.csr_matrix((len(open_steps), len(rule.own)))]))
        lower, upper = (np.append(limit, np.ones(len(open_steps))) for limit in (lower, upper))
    below = np.array([0.0] * chosen + [variable.lower for variable in rule.own])
    above = np.array([1.0] * chosen + [variable.upper for variable in rule.own])
    whole = np.array([False] * chosen + [variable.whole for variable in rule.own])
    return smallest_miss(sparse.vstack(parts), lower, upper, below, above, whole)
