"""The Frank-Wolfe subproblem as a linear programme: the oracle for every process and every linear constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.models.constraints.budget import budgets_of, only_budget
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.frank_wolfe_subproblem import read_visitation
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.models.worst_case_budget import SLACK, WorstCaseTail
from tcbo_pyomo.planning.finite.completion import Completion
from tcbo_pyomo.planning.finite.price_bounds import most_learned
from tcbo_pyomo.planning.finite.step_gradient import of_moves
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope, root_of
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.infeasibility import conflicting_constraints
from tcbo_pyomo.solvers.linear.solution import LinearSolution
from tcbo_pyomo.solvers.linear.solver import LinearSolver
from tcbo_pyomo.solvers.linear.solver_by_name import linear_solver


class LinearProgramming:
    """The linear oracle by a solver of the user's choice; the polytope is compiled once and re-solved."""

    def __init__(
        self,
        sets: EpisodeSets,
        constraints: tuple[TransitionConstraint, ...],
        solver: str = "highs",
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
        base: Callable[[], CompiledPolytope] | None = None,
    ) -> None:
        """`base` compiles the polytope of the start of an episode where it is kept elsewhere too."""
        self.sets, self.constraints, self.name = sets, constraints, solver
        self._solver_settings = (options or {}, time_limit)
        self._coupling = [c for c in constraints if c.couples_steps]
        self._tails = [WorstCaseTail(c, sets) for c in budgets_of(self._coupling)]
        # The base polytope of a campaign, and one more for an episode in which the plant went its own way.
        self._compiled: dict[Situation, tuple[CompiledPolytope, LinearSolver]] = {}
        self._completions: dict[Situation, Completion] = {}
        self._base = base
        self.last_solution: LinearSolution | None = None

    def compiled(self, situation: Situation) -> tuple[CompiledPolytope, LinearSolver]:
        """The polytope that explains the situation, built and compiled on first use."""
        root = root_of(situation, self.sets)
        if root not in self._compiled:
            with section("LP build"):
                kept = self._base is not None and root.step == 0 and self._base().root == root
                polytope = self._base() if self._base and kept else CompiledPolytope(self.sets, self.constraints, root)
                solver = linear_solver(self.name, polytope.programme, *self._solver_settings)
            if len(self._compiled) > 1:
                self._completions.pop(self._compiled.popitem()[0], None)
            self._compiled[root] = polytope, solver
        return self._compiled[root]

    def extreme_point(
        self, gradient: Array, situation: Situation, generator: np.random.Generator, first_pair: int | None = None
    ) -> Visitation:
        """An optimal visitation of the rest of the episode; with `first_pair` the best of those that begin with it."""
        self.sets.require_safe(situation.state, situation.step)
        bounds = self._bounds(situation, first_pair)
        try:
            return self._solved(gradient, situation, bounds)
        except InfeasiblePlan:
            raise self._explained(bounds, situation) from None

    def beginning_with(self, gradient: Array, situation: Situation, pair: int) -> Visitation | None:
        """An optimal visitation among those that make a move of the present state now; None where there is none."""
        try:
            return self._solved(gradient, situation, self._bounds(situation, pair))
        except InfeasiblePlan:
            return None

    def can_be_completed(self, situation: Situation, pair: int) -> bool:
        """Whether one unsplit path goes on from a move of the present state and keeps every constraint.

        Only asked for deterministic processes: there a split visitation is a random choice between paths, and each
        path that may be drawn has to be allowed on its own.
        """
        if not self._coupling or only_budget(self._coupling):
            return True  # The worst-case tail of a single budget has already answered this.
        return self._completion(situation).possible(situation, pair, self._bounds(situation, pair))

    @property
    def given_up(self) -> bool:
        """Whether a question of `can_be_completed` was answered with no because its proof took too long."""
        return any(completion.given_up for completion in self._completions.values())

    def most_learned(self, gradient: Array, situation: Situation) -> Array | None:
        """For each pair of the present state a bound of what plans learn that begin with it, by the prices of the last plan.

        None where the solver gives no prices.
        """
        if self.last_solution is None or self.last_solution.row_dual is None:
            return None
        bounds, (polytope, _) = self._bounds(situation, None), self.compiled(situation)
        return most_learned(polytope, gradient, situation, bounds, self.last_solution.row_dual)

    def _completion(self, situation: Situation) -> Completion:
        root = root_of(situation, self.sets)
        if root not in self._completions:
            self._completions[root] = Completion(*self.compiled(root), self._bounds(root, None))
        return self._completions[root]

    def _bounds(self, situation: Situation, first_pair: int | None) -> Bounds:
        """The bounds of the rest of the episode; with `first_pair` this move is made now."""
        polytope, _ = self.compiled(situation)
        bounds = polytope.bounds(situation)
        for tail in self._tails:
            row = polytope.budget_row(tail.budget.name)
            if row is None:
                continue
            planned = tail.pair_cost[list(situation.decisions)].sum() if situation.decisions else 0.0
            limit = tail.budget.limit
            bounds.row_upper[row] = limit + SLACK * max(1.0, limit) + planned - tail.spent(situation)
            dear = np.array(self.sets.process.pairs_of(situation.state))[~tail.affordable(situation)]
            first, last = polytope.step_range(situation.step)
            bounds.column_upper[first:last][np.isin(polytope.move_pair[first:last], dear)] = 0.0
        if first_pair is not None:
            bounds.column_lower[polytope.column(situation.step, first_pair)] = 1.0
        return bounds

    def _solved(self, gradient: Array, situation: Situation, bounds: Bounds) -> Visitation:
        polytope, solver = self.compiled(situation)
        cost = np.zeros(len(bounds.column_lower))
        last = polytope.move_step == self.sets.horizon - 1
        cost[: len(polytope.move_pair)] = of_moves(gradient, last, polytope.move_pair)
        self.last_solution = solver.solve(cost, *bounds)
        visitation = read_visitation(polytope.model, self.last_solution.values, situation.step)
        if len(self._coupling) > 1 and self.sets.process.deterministic:
            self._completion(situation).remember(situation, visitation)
        return visitation

    def _explained(self, bounds: Bounds, situation: Situation) -> InfeasiblePlan:
        polytope, _ = self.compiled(situation)
        names = conflicting_constraints(polytope.programme, bounds)
        steps = [polytope.flow_step(name) for name in names]
        blocked = [step for step in steps if step is not None]
        where = f"; the first step in the conflict is {min(blocked)}" if blocked else ""
        rules = [name for name, step in zip(names, steps, strict=True) if step is None] or names
        return InfeasiblePlan(
            f"no plan from state '{self.sets.process.labels[situation.state]}' (step {situation.step}) meets all "
            f"constraints; in conflict: {', '.join(rules)}{where}; loosen one of them or lengthen the episode"
        )
