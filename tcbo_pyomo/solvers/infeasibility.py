"""Which constraints are in conflict when no plan exists.

Pyomo's own tool (`pyomo.contrib.iis.compute_infeasibility_explanation`, pyomo 6.10.1) cannot do it: it stops with an
exception on both HiGHS interfaces, needs 90 s to get there on 5,000 columns, and only logs its result. HiGHS's `getIis`
answers with hundreds of flow rows. The flow rows are the plant itself, so what helps is a minimal set of the OTHER rows
that contradicts them. It is found on the compiled arrays in two classical steps (Chinneck, Feasibility and
Infeasibility in Optimization, 2008):

1. elastic programme: each of those rows may be violated at a price; at the cheapest violation the rows with a non-zero
   dual value are a conflict (a Farkas certificate);
2. deletion filter: a row of the conflict that is not needed for it is dropped.

Bounds of variables are taken as given.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.linear.highs import Highs
from tcbo_pyomo.solvers.linear.programme import LinearProgramme
from tcbo_pyomo.solvers.linear.solver import Verdict

DUAL_TOLERANCE = 1e-9
SECONDS = 5.0
"""For step 2 and for each solve; after it the set found so far is returned, in conflict but perhaps not minimal."""


def conflicting_constraints(programme: LinearProgramme, bounds: Bounds) -> list[str]:
    """Names of constraints that cannot hold together, given the flow of the plant and the bounds of its variables.

    Parameters
    ----------
    programme
        The polytope; the rows of its model's constraint `flow`, if it has one, are blamed only when nothing else is to blame.
    bounds
        The bounds that were infeasible.

    Returns
    -------
    list of str
        Names in the order of the model; empty when a feasible point exists after all.
    """
    crossed = np.flatnonzero(bounds.row_lower > bounds.row_upper)
    if len(crossed):
        return [programme.row_names[crossed[0]]]
    system = _ConflictSystem(programme, bounds)
    every_row = np.ones(len(programme.rows), dtype=bool)
    if system.feasible(every_row):
        return []
    flow = programme.model.component("flow")
    is_flow = np.array([row.parent_component() is flow for row in programme.rows], dtype=bool)
    elastic = ~is_flow if system.feasible(is_flow) else every_row
    conflict = system.certificate(elastic)
    if system.feasible(~elastic | conflict):
        conflict = elastic  # an integer programme whose relaxation is feasible has no certificate
    needed = system.deletion_filter(~elastic, conflict, time.monotonic() + SECONDS)
    return [programme.row_names[row] for row in needed]


class _ConflictSystem:
    """The rows of a programme, some of them relaxed; the bounds of the columns always hold."""

    def __init__(self, programme: LinearProgramme, bounds: Bounds) -> None:
        self.programme, self.bounds = programme, bounds
        self.solver = Highs(programme, time_limit=SECONDS)

    def feasible(self, rows: NDArray[np.bool_]) -> bool:
        """Whether the given rows can hold together; the others are relaxed."""
        bounds = self.bounds._replace(
            row_lower=np.where(rows, self.bounds.row_lower, -np.inf),
            row_upper=np.where(rows, self.bounds.row_upper, np.inf),
        )
        return self.solver.optimise(np.zeros(len(bounds.column_lower)), bounds).verdict is not Verdict.INFEASIBLE

    def certificate(self, elastic: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The elastic rows with a non-zero dual value at the cheapest violation."""
        soft = np.flatnonzero(elastic)
        unit = sparse.csc_matrix((np.ones(len(soft)), (soft, np.arange(len(soft)))), shape=(len(elastic), len(soft)))
        slack = np.zeros(2 * len(soft))
        relaxed = replace(
            self.programme,
            matrix=sparse.hstack([self.programme.matrix, unit, -unit], format="csc"),
            row_lower=self.bounds.row_lower,
            row_upper=self.bounds.row_upper,
            column_lower=np.concatenate([self.bounds.column_lower, slack]),
            column_upper=np.concatenate([self.bounds.column_upper, slack + np.inf]),
            integrality=np.zeros(self.programme.matrix.shape[1] + len(slack), dtype=bool),
            # A slack goes by the name of its row.
            columns=(*self.programme.columns, *(self.programme.rows[row] for row in np.tile(soft, 2))),
        )
        price: Array = np.concatenate([np.zeros(len(self.programme.columns)), slack + 1.0])
        answer = Highs(relaxed, time_limit=SECONDS).optimise(price, relaxed.bounds())
        if answer.row_dual is None:
            return elastic
        return elastic & (np.abs(answer.row_dual) > DUAL_TOLERANCE)

    def deletion_filter(self, kept: NDArray[np.bool_], conflict: NDArray[np.bool_], deadline: float) -> list[int]:
        """The rows of a conflict without which, given the kept rows, there is none; large blocks are tried first."""
        needed = conflict.copy()
        size = int(needed.sum())
        while size > 1:
            size = max(1, size // 4)
            rows = np.flatnonzero(needed)
            for first in range(0, len(rows), size):
                if time.monotonic() > deadline:
                    return np.flatnonzero(needed).tolist()
                block = rows[first : first + size]
                needed[block] = False
                needed[block] = self.feasible(kept | needed)
        return np.flatnonzero(needed).tolist()
