"""Budgets in many simulated campaigns: which moves leave enough for the way to the end, and at which price a plan keeps them.

A plan under a budget is a linear programme. Its dual says: there is a price per unit at which the best plan without the budget
keeps it. So the price is found by bisection, a few backward inductions per move, and the plan made with it.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.models.constraints.budget import budgets_of
from tcbo_pyomo.models.worst_case_budget import SLACK, WorstCaseTail
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.rehearsal.batched_induction import BatchedInduction, Costs

HALVINGS = 6
"""Steps of the bisection for a price."""


def refuse_other_couplings(problem: Problem) -> None:
    """Refuse a plant whose rules couple the moves of an episode in another way than a budget."""
    budgets = budgets_of(problem.rules)
    others = [rule.name for rule in problem.rules if rule.couples_steps and rule not in budgets]
    if others:
        raise BadInput(
            f"problem '{problem.name}': a campaign with {', '.join(others)} cannot be simulated ahead, because it couples "
            "the moves of an episode in another way than a budget; use method mdp_bo"
        )


class BudgetTables:
    """The worst-case tails of the budgets of one problem."""

    def __init__(self, problem: Problem) -> None:
        coupling = [rule for rule in problem.rules if rule.couples_steps]
        self.tails = [WorstCaseTail(budget, problem.sets) for budget in budgets_of(coupling)]
        self._needs: dict[tuple[int, int], Array] = {}

    def need(self, budget: int, step: int) -> Array:
        """What each pair (and one more, which is not there) and the most careful rest after it use in the worst case."""
        if (budget, step) not in self._needs:
            tail = self.tails[budget]
            self._needs[budget, step] = np.append(tail.needs(step), np.inf)
        return self._needs[budget, step]


class SimulatedBudgets:
    """What D simulated episodes have used of each budget so far.

    Parameters
    ----------
    tables
        The budgets of the problem.
    spent
        What the present episode has used of each budget.
    draws
        D.
    """

    def __init__(self, tables: BudgetTables, spent: list[float], draws: int) -> None:
        self._tables = tables
        self._spent = np.tile(np.array(spent, dtype=float)[:, None], (1, draws))
        limits = np.array([tail.budget.limit for tail in tables.tails])
        self._limits = limits + SLACK * np.maximum(1.0, limits)

    def restart(self) -> None:
        """A new episode has used nothing."""
        self._spent[:] = 0.0

    def affordable(self, pairs: Integers, usable: Mask, step: int) -> Mask:
        """Which of the usable pairs (A x D) leave enough of every budget; all of them where none does."""
        fits = usable.copy()
        for budget, (spent, limit) in enumerate(zip(self._spent, self._limits, strict=True)):
            fits &= self._tables.need(budget, step)[pairs] <= limit - spent
        return np.where(fits.any(axis=0), fits, usable)

    def move(self, entries: Integers) -> None:
        """Each plant makes a transition (D)."""
        for spent, tail in zip(self._spent, self._tables.tails, strict=True):
            spent += tail.cost[entries]

    def priced(self, costs: Costs, induction: BatchedInduction, states: Integers, step: int) -> Costs:
        """The costs with the price of every pair's use, so high that the best path keeps the budgets, and hardly higher."""
        process, draws = induction.process, len(states)
        use = np.zeros((process.number_of_pairs, draws))
        for tail, spent, limit in zip(self._tables.tails, self._spent, self._limits, strict=True):
            use += tail.pair_cost[:, None] / np.maximum(limit - spent, SLACK)
        usual, last = (
            costs.of_pairs(end) if costs.arrival is None else process.expected(costs.arrival) for end in (False, True)
        )

        def at_price(price: Array) -> Costs:
            return Costs(None, usual + price * use, last + price * use)

        low = np.zeros(draws)
        value, used = _best_path(at_price(low), use, induction, states, step)
        high = np.where(used <= 1.0, 0.0, 4.0 * np.abs(value))
        for _ in range(HALVINGS if high.any() else 0):
            middle = 0.5 * (low + high)
            _, used = _best_path(at_price(middle), use, induction, states, step)
            low, high = np.where(used <= 1.0, low, middle), np.where(used <= 1.0, middle, high)
        return at_price(high)


def _best_path(
    costs: Costs, use: Array, induction: BatchedInduction, states: Integers, step: int
) -> tuple[Array, Array]:
    """Cost and use of the best path from each plant's state (D); where chance moves it, along the likeliest arrivals."""
    kept: list[Array] = []
    induction.values_after(costs, step, kept)
    each, likeliest = np.arange(len(states)), induction.likeliest
    total, used = np.zeros(len(states)), np.zeros(len(states))
    for at, values in enumerate(reversed(kept), start=step):
        pairs = induction.table[:, states]
        usable = induction.usable(at)[pairs]
        known = np.minimum(pairs, len(likeliest) - 1)
        to_go = np.where(usable, costs.of_pairs(at == induction.horizon - 1)[known, each], np.inf)
        to_go += np.where(usable, values[likeliest[known], each], 0.0)
        pair = known[to_go.argmin(axis=0), each]
        total += costs.of_pairs(at == induction.horizon - 1)[pair, each]
        used += use[pair, each]
        states = likeliest[pair]
    return total, used
