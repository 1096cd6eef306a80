"""What lies ahead, in the units of the utility: the value of every state and the cost of every move.

At a plan the utility is close to its tangent, a linear function of the visits, and the minimum of the tangent over the
polytope is a linear programme with duals. The dual of flow[h, x] is the value V_h(x) of a state: what the rest of the
episode from x is expected to change the utility by. The linear programme leaves it open where no optimal plan goes, so it
is computed as the value function of backward induction,

    V_h(x) = min over feasible a of  cost_h(x, a) + sum_x' P(x'|x, a) V_{h+1}(x'),

where a visit costs its gradient and, under side constraints, what it uses of them at their shadow prices
(`side_prices`). The cost of a move beyond the best one is its reduced cost in the linear programme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.explain.side_prices import RowPrice, side_prices
from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.backward_recursion import BackwardRecursion
from tcbo_pyomo.planning.finite.worst_case_budget import WorstCaseTail
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.finite import Problem


@dataclass(frozen=True, eq=False)
class LookAhead:
    """Values and prices at one gradient, from one situation on.

    Attributes
    ----------
    problem, situation
        Where the plant is.
    cost
        (H - h) x P: what one visit of a pair costs at each step, side constraints included.
    values
        (H - h + 1) x n: V of each state before each step from now on; infinite where the episode cannot be completed.
    rows
        The side constraints and their prices.
    """

    problem: Problem
    situation: Situation
    cost: Array
    values: Array
    rows: tuple[RowPrice, ...]

    def move_costs(self) -> Array:
        """For each pair of the present state, what it costs beyond the best move; infinite for a dead end.

        For a move that a constraint forbids this is what it would cost if it were allowed once, now; below zero the
        constraint costs something here.
        """
        pairs = np.array(self.problem.process.pairs_of(self.situation.state))
        return self.cost[0, pairs] + self.values_ahead() - self.values[0, self.situation.state]

    def values_ahead(self) -> Array:
        """For each pair of the present state, the expected value of where it leads; infinite for a dead end."""
        process = self.problem.process
        return np.asarray(process.transitions[np.array(process.pairs_of(self.situation.state))] @ self.values[1])

    def usable_now(self) -> Mask:
        """For each pair of the present state, whether a plan may use it now."""
        sets, step, state = self.problem.sets, self.situation.step, self.situation.state
        here = np.arange(self.problem.process.number_of_states) == state
        usable = np.setdiff1d(sets.usable_pairs(step, here), _unaffordable(self.problem, self.situation))
        return np.isin(self.problem.process.pairs_of(state), usable)

    def worth_of(self, name: str) -> float:
        """How much smaller the tangent's minimum is without the rules of a name: at most this can dropping them buy."""
        return self.worth_with([rule for rule in self.problem.rules if rule.name != name])

    def worth_with(self, rules: Sequence[TransitionConstraint]) -> float:
        """How much smaller the tangent's minimum is under other rules about single moves and states."""
        other = EpisodeSets(self.problem.process, rules, self.problem.horizon)
        barred = _unaffordable(self.problem, self.situation)
        values = backward_values(other, self.cost, self.situation.step, barred)
        return float(self.values[0, self.situation.state] - values[0, self.situation.state])


def look_ahead(problem: Problem, gradient: Array, situation: Situation, plan: Visitation | None = None) -> LookAhead:
    """Values and prices at a gradient (one value per state-action pair); the slacks are those of `plan`."""
    rows: tuple[RowPrice, ...] = ()
    cost = np.tile(gradient, (problem.horizon - situation.step, 1))
    if any(rule.couples_steps for rule in problem.rules):
        rows, surcharge = side_prices(problem, gradient, situation, plan)
        cost = cost + surcharge
    values = backward_values(problem.sets, cost, situation.step, _unaffordable(problem, situation))
    return LookAhead(problem, situation, cost, values, rows)


def backward_values(sets: EpisodeSets, cost: Array, first_step: int, barred_now: Integers) -> Array:
    """V_h(x) for costs per step and pair ((H - first_step) x P); `barred_now` are pairs not to be used in the first."""

    def to_go(step: int, ahead: Array) -> Array:
        found = cost[step - first_step] + sets.process.transitions @ ahead
        if step == first_step:
            found[barred_now] = np.inf
        return found

    recursion = BackwardRecursion(sets)
    return recursion.values(first_step, recursion.best_of(to_go))


def _unaffordable(problem: Problem, situation: Situation) -> Integers:
    """Pairs of the present state after which a budget could not be kept for sure."""
    pairs = np.array(problem.process.pairs_of(situation.state), dtype=np.int64)
    fits = np.ones(len(pairs), dtype=bool)
    for rule in problem.rules:
        if isinstance(rule, Budget):
            fits &= WorstCaseTail(rule, problem.sets).affordable(situation)
    return pairs[~fits]
