"""Backward induction under one budget: the budget gets a price, and the price is found (the Lagrangian of its row).

    max over prices y >= 0 of  min over policies of <gradient + y cost, d>  -  y budget

equals the optimum of the linear programme, and the inner minimum is one backward induction. The dual function is concave and
piecewise linear: two policies, one that uses more than the budget and one that uses less, give the next price, at which they
are equally good; it is the right one when no third policy is better there. The plan is then the mixture of the two that uses
the budget up, as a solution of the linear programme is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import Visitation, mix
from tcbo_pyomo.models.worst_case_budget import SLACK, WorstCaseTail
from tcbo_pyomo.planning.finite.dynamic_programming import TIE, DynamicProgramming
from tcbo_pyomo.planning.finite.step_gradient import of_moves
from tcbo_pyomo.planning.ties import one_of_the_largest
from tcbo_pyomo.plant.situation import Situation

CLEARLY = 1e-10
"""A policy is better at a price when its cost is lower by more than this share; rounding is less."""


@dataclass(frozen=True)
class Priced:
    """A policy of the rest of the episode: what it costs by the gradient, and what it uses of the budget."""

    visits: Visitation
    cost: float
    use: float

    def at(self, price: float) -> float:
        """What it costs when the budget has a price."""
        return self.cost + price * self.use


class PricedBudget:
    """The linear oracle of a process whose only coupling constraint is one budget; answers as `LinearProgramming` does."""

    name = DynamicProgramming.name
    given_up = False

    def __init__(self, sets: EpisodeSets, budget: Budget) -> None:
        self.sets = sets
        self._induction, self._tail = DynamicProgramming(sets), WorstCaseTail(budget, sets)
        self._use = self._tail.pair_cost.astype(float)
        self._price = 0.0

    def extreme_point(
        self, gradient: Array, situation: Situation, generator: np.random.Generator, first_pair: int | None = None
    ) -> Visitation:
        """An optimal visitation of the rest of the episode; with `first_pair` the best of those that begin with it."""
        first, left = self._first_moves(situation, first_pair), self._left(situation)

        def cheapest(price: float) -> Priced:
            return self._cheapest(gradient + price * self._use, gradient, situation, first, generator)

        dear, self._price = cheapest(0.0), 0.0
        if dear.use <= left:
            return dear.visits
        frugal = self._cheapest(self._use, gradient, situation, first, generator)
        # Every round replaces one of the two by a policy that is better at the price, and there are finitely many.
        while dear.use > frugal.use:
            price = max(0.0, (frugal.cost - dear.cost) / (dear.use - frugal.use))
            third = cheapest(price)
            known = min(dear.at(price), frugal.at(price))
            if third.at(price) >= known - CLEARLY * (abs(dear.cost) + price * dear.use):
                self._price = price
                break
            dear, frugal = (third, frugal) if third.use > left else (dear, third)
        return self._mixed(dear, frugal, left)

    def beginning_with(self, gradient: Array, situation: Situation, pair: int) -> Visitation | None:
        """An optimal visitation among those that make a move of the present state now; None where there is none."""
        try:
            return self.extreme_point(gradient, situation, np.random.default_rng(0), pair)
        except InfeasiblePlan:
            return None

    def can_be_completed(self, situation: Situation, pair: int) -> bool:
        """Whether one unsplit path goes on from a move: the most careful continuation of an affordable one does."""
        return True

    def most_learned(self, gradient: Array, situation: Situation) -> Array:
        """For each pair of the present state a bound of what plans learn that begin with it, by the price of the last plan.

        Weak duality: at any price the inner minimum is a lower bound of the optimum (see `price_bounds.py`).
        """
        price = self._price
        values = self._induction.move_values(gradient + price * self._use, situation)
        return price * self._left(situation) - values

    def _left(self, situation: Situation) -> float:
        limit = self._tail.budget.limit
        return limit + SLACK * max(1.0, limit) - self._tail.spent(situation)

    def _first_moves(self, situation: Situation, first_pair: int | None) -> Mask:
        """Which pairs of the present state a plan may begin with: those after which the budget can be kept for sure."""
        self.sets.require_safe(situation.state, situation.step)
        pairs = self.sets.process.pairs_of(situation.state)
        usable = self.sets.allowed_pairs[pairs.start : pairs.stop] & self._tail.affordable(situation)
        if first_pair is None:
            return usable
        chosen = usable & (np.arange(pairs.start, pairs.stop) == first_pair)
        if not chosen.any():
            process, state = self.sets.process, self.sets.process.labels[situation.state]
            action = process.actions[process.pair_action[first_pair]]
            raise InfeasiblePlan(f"no plan from state '{state}' (step {situation.step}) begins with the move '{action}'")
        return chosen

    def _cheapest(
        self, priced: Array, gradient: Array, situation: Situation, first: Mask, generator: np.random.Generator
    ) -> Priced:
        values = np.where(first, self._induction.move_values(priced, situation), np.inf)
        begun = one_of_the_largest(-values, TIE, generator)
        offset = int(self.sets.process.pair_offsets[situation.state])
        visits = self._induction.extreme_point(priced, situation, generator, offset + int(begun))
        last = visits.step == self.sets.horizon - 1
        cost = float(visits.probability @ of_moves(gradient, last, visits.pair))
        return Priced(visits, cost, float(visits.probability @ self._use[visits.pair]))

    @staticmethod
    def _mixed(dear: Priced, frugal: Priced, left: float) -> Visitation:
        """The mixture that uses what is left; the frugal policy alone where the other is no better."""
        spare = left - frugal.use
        if spare <= 0.0 or dear.use <= frugal.use or dear.cost >= frugal.cost:
            return frugal.visits
        share = min(1.0, spare / (dear.use - frugal.use))
        return mix([(share, dear.visits), (1.0 - share, frugal.visits)])
