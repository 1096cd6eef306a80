"""Which moves may be made now: the planner's own rules, for methods that look at one move at a time.

A move of a finite process is feasible when it is allowed, leads only to states from which the episode can be completed
(`EpisodeSets`), leaves enough of every budget for the most careful continuation (`WorstCaseTail`), and, where several
constraints couple the steps, when a plan of the whole rest of the episode goes on from it (`LinearProgramming`).
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.models.constraints.budget import budgets_of, only_budget
from tcbo_pyomo.models.worst_case_budget import WorstCaseTail
from tcbo_pyomo.planning.finite.coupled_oracle import CoupledOracle
from tcbo_pyomo.planning.finite.dynamic_programming import TIE
from tcbo_pyomo.planning.ties import one_of_the_largest
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.goal import Goal


class FeasibleMoves:
    """The feasible moves of one problem; what the constraints need is computed once."""

    def __init__(self, problem: Problem, planner: CoupledOracle | None = None) -> None:
        self.problem = problem
        coupling = [rule for rule in problem.rules if rule.couples_steps]
        self._tails = [WorstCaseTail(rule, problem.sets) for rule in budgets_of(coupling)]
        # The worst-case tail of a single budget answers everything; for more than that, or for a user's own rule, a
        # plan of the rest of the episode has to be found.
        self._completion = planner
        if not coupling or only_budget(coupling):
            self._completion = None
        elif planner is None:
            from tcbo_pyomo.planning.finite.linear_programming import (
                LinearProgramming,  # Most problems do without Pyomo.
            )

            self._completion = LinearProgramming(problem.sets, problem.rules, base=lambda: problem.polytope)

    def random(self, situation: Situation, generator: np.random.Generator) -> int:
        """A feasible pair, all equally likely."""
        return self.best(np.zeros(self.problem.process.number_of_pairs), situation, generator)

    def highest_bound(
        self,
        belief: FiniteBelief,
        width: float,
        situation: Situation,
        generator: np.random.Generator,
        goal: Goal = MAXIMISE,
    ) -> int:
        """The feasible pair with the largest expectation of mean + width sd, or of another goal's optimistic score."""
        bound = goal.optimistic(belief.mean, belief.standard_deviation, width)
        return self.best(self.problem.process.transitions @ bound, situation, generator)

    def best(self, score: Array, situation: Situation, generator: np.random.Generator) -> int:
        """The feasible pair with the largest score (P values, one per pair), ties broken at random.

        Plans are only sought for pairs that would be chosen, the best first.
        """
        pairs = self.affordable(situation)
        while len(pairs):
            chosen = one_of_the_largest(score[pairs], TIE, generator)
            if self.completes(situation, int(pairs[chosen])):
                return int(pairs[chosen])
            pairs = np.delete(pairs, chosen)
        names = ", ".join(rule.name for rule in self.problem.rules if rule.couples_steps)
        raise InfeasiblePlan(
            f"no move from state '{self.problem.process.labels[situation.state]}' (step {situation.step}) keeps all of "
            f"{names} until the end of the episode; raise a limit"
        )

    def affordable(self, situation: Situation) -> Integers:
        """Pairs that are safe and fit into each budget on its own."""
        sets, state = self.problem.sets, situation.state
        sets.require_safe(state, situation.step)
        here = np.zeros(sets.process.number_of_states, dtype=bool)
        here[state] = True
        usable = sets.usable_pairs(situation.step, here)
        for tail in self._tails:
            usable = usable[tail.affordable(situation)[usable - sets.process.pair_offsets[state]]]
        return usable

    def completes(self, situation: Situation, pair: int) -> bool:
        """Whether an allowed rest of the episode goes on from an affordable pair."""
        if self._completion is None:
            return True
        if self.problem.deterministic:
            return self._completion.can_be_completed(situation, pair)
        # Chance moves the plant: some policy has to make this move now and keep every constraint in expectation.
        nothing = np.zeros(self.problem.process.number_of_pairs)
        return self._completion.beginning_with(nothing, situation, pair) is not None

    def record(self) -> None:
        """Nothing to keep: what a finite plant can do next needs no nonlinear solver."""

    def state(self) -> None:
        """Nothing to save: what is feasible follows from the history."""

    def load(self, state: None) -> None:
        """Nothing to load."""
