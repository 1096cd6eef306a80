"""Whether one path goes on from a move and keeps every rule, asked before the move is made: cheap proofs first.

Where rules add up over an episode, a split visitation is a chance between paths, and each path that may be drawn has to be
allowed on its own. In this order, until one answers:

1. labels: the sums of the paths that no other undercuts, computed once for the episode (exact unless there are too many, or
   a row has variables of the user's own);
2. a path that was planned or proven before and begins like this;
3. diving: a linear programme, the largest part of its first split made whole, and so on;
4. an integer programme, given up after a number of nodes. A move that is not proven by then is not made.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property

import numpy as np

from tcbo_pyomo.errors import InfeasiblePlan, SolverFailed
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.models.frank_wolfe_subproblem import read_visitation
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope
from tcbo_pyomo.problem.path_labels import PathLabels
from tcbo_pyomo.problem.path_rows import rows_of_polytope
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.linear.highs import Highs
from tcbo_pyomo.solvers.linear.solver import LinearSolver

DIVES = 8
"""Linear programmes that a dive may take: a vertex splits at most as often as there are rows of rules."""
NODES = 1000
"""Nodes of the integer programme: a count and not a time, so that every machine gives up at the same place."""
REMEMBERED = 8
"""Paths that are kept as proofs."""


class Completion:
    """Proofs on one compiled polytope.

    Parameters
    ----------
    polytope, solver
        The polytope and who solves its linear programmes.
    root
        The bounds of a plan from the polytope's root on.

    Attributes
    ----------
    given_up
        Whether an integer programme was given up: "cannot be completed" was then not proven.
    """

    def __init__(self, polytope: CompiledPolytope, solver: LinearSolver, root: Bounds) -> None:
        self.polytope, self.solver, self._root = polytope, solver, root
        self.given_up = False
        self._paths: deque[tuple[int, ...]] = deque(maxlen=REMEMBERED)

    @cached_property
    def labels(self) -> PathLabels:
        """The labels of all paths from the root on."""
        return PathLabels(rows_of_polytope(self.polytope, self._root.row_lower, self._root.row_upper))

    def remember(self, situation: Situation, visitation: Visitation) -> None:
        """Keep a planned path as a proof, if it is one."""
        if len(visitation.pair) == self.polytope.sets.horizon - situation.step and visitation.is_path:
            path = (*situation.decisions, *visitation.pair[np.argsort(visitation.step)].tolist())
            if path not in self._paths:
                self._paths.append(path)

    @timed("completion")
    def possible(self, situation: Situation, pair: int, bounds: Bounds) -> bool:
        """Whether a path goes on from a pair of the present state; `bounds` are those of plans that begin with it."""
        answer = self._by_labels(situation, pair)
        begun = (*situation.decisions, pair)
        if answer is None and any(path[: len(begun)] == begun for path in self._paths):
            return True
        if answer is None:
            answer = self._by_diving(situation, bounds)
        return self._by_whole_numbers(situation, bounds) if answer is None else answer

    def _by_labels(self, situation: Situation, pair: int) -> bool | None:
        labels, first = self.labels, self.polytope.root.step
        rows, made = labels.rows, [*situation.decisions[first:], pair]
        places = []
        for step, move in enumerate(made, first):
            begin, end = rows.offsets[step : step + 2]
            place = begin + int(np.searchsorted(rows.move_pair[begin:end], move))
            if place == end or rows.move_pair[place] != move:
                return False
            places.append(place)
        left = rows.limits - np.asarray(rows.coefficients[places].sum(axis=0)).ravel()
        return labels.can_be_completed(situation.step + 1, int(rows.arrived[places[-1]]), left)

    def _by_diving(self, situation: Situation, bounds: Bounds) -> bool | None:
        nothing, lower = np.zeros(len(bounds.column_lower)), bounds.column_lower.copy()
        for attempt in range(DIVES):
            try:
                values = self.solver.solve(nothing, *bounds._replace(column_lower=lower)).values
            except InfeasiblePlan:
                return None if attempt else False
            visits = read_visitation(self.polytope.model, values, situation.step)
            if visits.is_path:
                self.remember(situation, visits)
                return True
            steps, number = np.unique(visits.step, return_counts=True)
            pairs, shares = visits.at_step(int(steps[number > 1][0]))
            lower[self.polytope.column(int(steps[number > 1][0]), int(pairs[shares.argmax()]))] = 1.0
        return None

    def _by_whole_numbers(self, situation: Situation, bounds: Bounds) -> bool:
        programme = self.polytope.programme
        moves = np.arange(len(bounds.column_lower)) < len(self.polytope.move_pair)
        solver = Highs(programme.with_whole_numbers(moves), {"mip_max_nodes": NODES})
        try:
            values = solver.solve(np.zeros(len(moves)), *bounds).values
        except InfeasiblePlan:
            return False
        except SolverFailed:
            self.given_up = True
            return False
        self.remember(situation, read_visitation(self.polytope.model, values, situation.step))
        return True
