"""Budgets that hold on the executed path, not only on average.

The polytope keeps a budget in expectation. A policy that mixes a cheap path with an expensive one satisfies that; the
expensive path, once drawn, may break the budget. So before a move is made, what the most careful continuation would still use
in the worst case,

    tail_h(x) = min_a max_x' cost(x, a, x') + tail_{h+1}(x'),

must fit into what is left. With one budget this makes every re-plan feasible.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.models.backward_recursion import BackwardRecursion
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.situation import Situation

SLACK = 1e-9
"""Rounding allowed when a budget is met exactly, as a share of the budget."""


class WorstCaseTail:
    """tail_h(x) of one budget on one process."""

    def __init__(self, budget: Budget, sets: EpisodeSets) -> None:
        self.budget, self.sets = budget, sets
        self.process = sets.process
        self.cost = budget.transition_cost(self.process)
        process = self.process
        self.pair_cost = np.bincount(
            process.transition_pair, process.transitions.data * self.cost, minlength=process.number_of_pairs
        )
        recursion = BackwardRecursion(sets)
        self.tail = recursion.values(0, recursion.best_of(lambda step, ahead: self._worst_outcome(ahead)))

    def _worst_outcome(self, ahead: Array) -> Array:
        """For each pair the most expensive outcome: its cost and the careful continuation after it."""
        outcome = self.cost + ahead[self.process.transitions.indices]
        return np.maximum.reduceat(outcome, self.process.transitions.indptr[:-1])

    def states_met(self, start: int) -> Mask:
        """Where an episode may come by that makes only moves after which the budget can be kept for sure.

        The less was used on the way to a state, the more moves are left: the least decides. Nowhere where even the start
        is too much.
        """
        process, sets = self.process, self.sets
        limit = self.budget.limit + SLACK * max(1.0, self.budget.limit)
        used = np.where(np.arange(process.number_of_states) == start, 0.0, np.inf)
        met = (used == 0.0) & (self.tail[0] <= limit)
        for step in range(sets.horizon):
            affordable = used[process.pair_state] + self.needs(step) <= limit
            entries = np.flatnonzero((affordable & sets.allowed_pairs)[process.transition_pair])
            left = process.pair_state[process.transition_pair[entries]]
            arriving = np.full(process.number_of_states, np.inf)
            np.minimum.at(arriving, process.transitions.indices[entries], used[left] + self.cost[entries])
            used = arriving
            met |= np.isfinite(used)
        return met

    def needs(self, step: int) -> Array:
        """What each pair (P) and the most careful rest of the episode after it use in the worst case."""
        return self._worst_outcome(self.tail[step + 1])

    def spent(self, situation: Situation) -> float:
        """What the episode has used so far."""
        return self.budget.spent(self.process.coordinates, self.process.states[list(situation.path)])

    def affordable(self, situation: Situation) -> Mask:
        """For each pair of the present state, whether the budget can be kept for sure after it."""
        left = self.budget.limit + SLACK * max(1.0, self.budget.limit) - self.spent(situation)
        pairs = self.process.pairs_of(situation.state)
        fits = self.needs(situation.step)[pairs.start : pairs.stop] <= left
        if not fits.any():
            raise InfeasiblePlan(
                f"{self.budget.name}: {self.spent(situation):g} of {self.budget.limit:g} is used at step {situation.step} in "
                f"state '{self.process.labels[situation.state]}', and the rest of the episode needs at least "
                f"{self.tail[situation.step, situation.state]:g} in the worst case; raise the limit or shorten the episode"
            )
        return fits
