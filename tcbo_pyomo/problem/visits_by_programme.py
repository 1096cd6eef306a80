"""Which states can be visited, by the linear model itself: what labels leave open.

As a linear programme: the most visits that any policy makes to some states. Where that is none, no episode visits them;
else the states that it does visit are set aside, and the question is asked again for the rest. With whole numbers: a path that
visits at least one of some states; there is one, or there is none, or the search is given up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sparse

from tcbo_pyomo.errors import InfeasiblePlan, SolverFailed
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope
from tcbo_pyomo.solvers.linear.highs import Highs

LARGEST = 20_000
"""Columns above which no whole numbers are tried: one programme would take longer than a campaign plans for."""
PATHS = 40
"""Paths that are sought with whole numbers before the rest is left open."""
NODES = 200
"""Nodes of a search with whole numbers before it is given up: a count, so that every machine gives up at the same place."""
VISIT = 1e-6
"""Fewer expected visits are rounding of the solver."""


class VisitsByProgramme:
    """Asks the polytope of the start of an episode which states can be visited."""

    def __init__(self, polytope: CompiledPolytope) -> None:
        self.polytope, process = polytope, polytope.sets.process
        self.arrivals = process.transitions[polytope.move_pair]
        self.bounds = polytope.bounds(polytope.root)

    def possible(self, states: Mask) -> Mask:
        """Those of some states that a policy visits which keeps every row on average."""
        solver, found = Highs(self.polytope.programme), self._start() & states
        with section("search space"):
            while (states & ~found).any():
                try:
                    values = solver.solve(-self._visits(states & ~found), *self.bounds).values
                except InfeasiblePlan:
                    return np.zeros_like(states)
                visited = states & self._arrived(values)
                if not (visited & ~found).any():
                    break
                found |= visited
        return found

    def decided(self, states: Mask, known: Mask) -> tuple[Mask, bool]:
        """Those of some states that one path visits which keeps every row, and whether that is certain for each of them.

        `known` can be visited for sure.
        """
        possible = self.possible(states) | known
        if len(self.polytope.move_pair) > LARGEST:
            return possible, not (possible & ~known).any()
        found = known | self._start() & possible
        with section("search space"):
            for _ in range(PATHS):
                if not (possible & ~found).any():
                    return found, True
                try:
                    path = self._path_to_one_of(possible & ~found)
                except SolverFailed:
                    break
                if path is None:
                    return found, True
                found |= path
        return possible, False

    def _start(self) -> Mask:
        return np.arange(self.arrivals.shape[1]) == self.polytope.root.state

    def _visits(self, states: Mask) -> Array:
        """How many visits to some states each column makes."""
        visits = np.zeros(len(self.polytope.programme.columns))
        visits[: len(self.polytope.move_pair)] = self.arrivals @ states.astype(float)
        return visits

    def _arrived(self, values: Array) -> Mask:
        mass = self.arrivals.T @ values[: len(self.polytope.move_pair)]
        return np.asarray(mass > VISIT).ravel()

    def _path_to_one_of(self, states: Mask) -> Mask | None:
        programme, bounds = self.polytope.programme, self.bounds
        row = sparse.csr_matrix(self._visits(states))
        whole = np.arange(len(programme.columns)) < len(self.polytope.move_pair)
        wanted = replace(
            programme.with_whole_numbers(whole),
            matrix=sparse.vstack([programme.matrix, row], format="csc"),
            row_lower=np.append(bounds.row_lower, 1.0),
            row_upper=np.append(bounds.row_upper, np.inf),
            # Messages call the new row by the name of the last one; none is expected.
            rows=(*programme.rows, programme.rows[-1]),
        )
        solver = Highs(wanted, {"mip_max_nodes": NODES})
        try:
            values = solver.solve(np.zeros(len(whole)), bounds.column_lower, bounds.column_upper).values
        except InfeasiblePlan:
            return None
        return self._arrived(values)
