"""The polytope compiled once per episode shape, and what changes in it from one re-plan to the next.

The Pyomo model is written in the absolute steps of the episode. When the plant has made some of its moves, nothing is
rebuilt: each past move is fixed to one visit, the flow rows of past steps are freed, and the flow rows of the present
step are given the present state. So every constraint, the user's own included, counts what is already spent.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sparse

from tcbo_pyomo.foundation.arrays import Integers, Mask
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.frank_wolfe_subproblem import as_frank_wolfe_subproblem
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.state_action_polytope import build_state_action_polytope
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.linear.programme import compile_linear_model


class CompiledPolytope:
    """A polytope rooted at one state and step, as arrays.

    Attributes
    ----------
    model
        The Frank-Wolfe subproblem in Pyomo: what users read, and what every solver solves.
    programme
        Its matrix and bounds; the first columns are the moves, in the order of MOVES.
    """

    def __init__(self, sets: EpisodeSets, constraints: tuple[TransitionConstraint, ...], root: Situation) -> None:
        self.sets, self.root, process = sets, root, sets.process
        polytope = build_state_action_polytope(process, root.state, sets.horizon, constraints, root.decisions, sets)
        self.model = as_frank_wolfe_subproblem(polytope)
        self.programme = compile_linear_model(self.model, list(self.model.visitation.values()))
        self.move_step, self.move_pair = self.model.move_step, self.model.move_pair
        self._step_offsets = np.searchsorted(self.move_step, np.arange(sets.horizon + 1))
        row_of = {id(constraint): row for row, constraint in enumerate(self.programme.rows)}
        rows = [(row_of[id(data)], step, state) for (step, state), data in self.model.flow.items()]
        self._flow_row = np.array([row for row, _, _ in rows])
        self._flow_step = np.array([step for _, step, _ in rows])
        self._flow_state = np.array([process.state_index(state) for _, _, state in rows])

    def column(self, step: int, pair: int) -> int:
        """The column of a move."""
        first, last = self.step_range(step)
        return first + int(np.searchsorted(self.move_pair[first:last], pair))

    def step_range(self, step: int) -> tuple[int, int]:
        """First column of a step, and the one after its last."""
        return int(self._step_offsets[step]), int(self._step_offsets[step + 1])

    def budget_row(self, budget: str) -> int | None:
        """The row of a budget; None where nothing the plant can do uses it up."""
        return self._budget_rows[budget]

    @cached_property
    def _budget_rows(self) -> dict[str, int | None]:
        row_of = {id(self.programme.rows[row]): int(row) for row in self.side_rows}
        names = self.model.budget_rows.items()
        return {budget: row_of.get(id(self.model.component(component))) for budget, component in names}

    @cached_property
    def side_rows(self) -> Integers:
        """The rows that are not the flow of the plant: what rules add up over the episode."""
        return np.setdiff1d(np.arange(len(self.programme.rows)), self._flow_row)

    @cached_property
    def side_matrix(self) -> sparse.csr_matrix:
        """The coefficients of `side_rows`, all columns."""
        return self.programme.matrix.tocsr()[self.side_rows]

    def flow_step(self, row_name: str) -> int | None:
        """The step a flow row belongs to; None for any other row."""
        row = self.programme.row_names.index(row_name)
        found = np.flatnonzero(self._flow_row == row)
        return int(self._flow_step[found[0]]) if len(found) else None

    def bounds(self, situation: Situation) -> Bounds:
        """Bounds for a plan of the rest of the episode."""
        programme, now = self.programme, situation.step
        bounds = Bounds(*(array.copy() for array in programme.bounds()))
        past = [self.column(step, pair) for step, pair in enumerate(situation.decisions)]
        bounds.column_lower[: self._step_offsets[now]] = bounds.column_upper[: self._step_offsets[now]] = 0.0
        bounds.column_lower[past] = bounds.column_upper[past] = 1.0
        if now > self.root.step:
            gone = self._flow_row[self._flow_step < now]
            bounds.row_lower[gone], bounds.row_upper[gone] = -np.inf, np.inf
            here = self._flow_step == now
            moves, made = self.sets.process.transitions, situation.decisions[-1]
            outcomes = slice(moves.indptr[made], moves.indptr[made + 1])
            last = np.zeros(moves.shape[1])
            last[moves.indices[outcomes]] = moves.data[outcomes]
            expected = (self._flow_state[here] == situation.state) - last[self._flow_state[here]]
            bounds.row_lower[self._flow_row[here]] = bounds.row_upper[self._flow_row[here]] = expected
        return bounds


def root_of(situation: Situation, sets: EpisodeSets) -> Situation:
    """The last point of the path that the model does not explain: from there the polytope must be built anew.

    As long as the plant does what it was asked, this is the start of the episode, and one compiled polytope serves the
    whole campaign.
    """
    missed = np.flatnonzero(~_explained(situation, sets))
    root = int(missed[-1]) + 1 if len(missed) else 0
    return Situation(situation.path[: root + 1], situation.decisions[:root])


def _explained(situation: Situation, sets: EpisodeSets) -> Mask:
    """For each move made whether the model knows it: allowed, from where the plant was to where it went."""
    process, pairs, path = sets.process, np.array(situation.decisions, dtype=np.int64), np.array(situation.path)
    known = (process.pair_state[pairs] == path[:-1]) & sets.allowed_pairs[pairs]
    if process.deterministic:
        arrived = process.successor[pairs]
        return known & (arrived == path[1:]) & sets.safe[np.arange(1, len(path)), arrived]
    for step, pair in enumerate(situation.decisions):
        outcomes = process.successors_of(pair)
        known[step] &= path[step + 1] in outcomes and sets.safe[step + 1, outcomes].all()
    return known
