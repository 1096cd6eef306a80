"""What lies ahead, in the units of the utility: the value of every state and the cost of every move.

At a plan the utility is close to its tangent, a linear function of the visits, and the minimum of the tangent over the
polytope is a linear programme with duals. The dual of flow[h, x] is the value V_h(x) of a state: what the rest of the
episode from x is expected to change the utility by. The linear programme leaves it open where no optimal plan goes, so it
is computed as the value function of backward induction,

    V_h(x) = min over feasible a of  cost_h(x, a) + sum_x' P(x'|x, a) V_{h+1}(x'),

where a visit costs its gradient and, under side constraints, what it uses of them at their shadow prices.
The cost of a move beyond the best one is its reduced cost in the linear programme.

A shadow price is the change of the smallest utility per unit more of a limit, so it is negative for a limit from above that
binds: one more unit of fuel buys so much less variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.models.backward_recursion import BackwardRecursion
from tcbo_pyomo.models.constraints.budget import budgets_of
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import limits_text
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.models.worst_case_budget import WorstCaseTail
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.step_gradient import by_step
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope
from tcbo_pyomo.problem.finite import Problem


@dataclass(frozen=True)
class RowPrice:
    """One side constraint of the polytope.

    Attributes
    ----------
    name
        Its name in the Pyomo model.
    component, rule
        The component and the name of the constraint that it belongs to.
    limits
        What it allows, in words.
    shadow_price
        Change of the smallest utility per unit of its bound.
    slack
        How much of it the plan leaves unused; None where a plan's visits alone do not tell.
    unit
        The least that a move uses of it, to two digits.
    lower, upper
        Its bounds; infinite where there is none.
    """

    name: str
    component: str
    rule: str
    limits: str
    shadow_price: float
    slack: float | None
    unit: float = 1.0
    lower: float = -np.inf
    upper: float = np.inf


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
        usable = np.setdiff1d(sets.usable_pairs(step, here), unaffordable(self.problem, self.situation))
        return np.isin(self.problem.process.pairs_of(state), usable)

    def worth_with(self, rules: Sequence[TransitionConstraint]) -> float:
        """How much smaller the tangent's minimum is under other rules about single moves and states, at least 0.

        At most this can the other rules buy.
        """
        other = EpisodeSets(self.problem.process, rules, self.problem.horizon)
        barred = unaffordable(self.problem, self.situation)
        values = backward_values(other, self.cost, self.situation.step, barred)
        return max(0.0, float(self.values[0, self.situation.state] - values[0, self.situation.state]))


def look_ahead(problem: Problem, gradient: Array, situation: Situation, plan: Visitation | None = None) -> LookAhead:
    """Values and prices at a gradient (one value per pair, or as in `step_gradient`); the slacks are those of `plan`."""
    rows: tuple[RowPrice, ...] = ()
    cost = by_step(gradient, problem.horizon - situation.step)
    if any(rule.couples_steps for rule in problem.rules):
        rows, surcharge = _side_prices(problem, gradient, situation, plan)
        cost = cost + surcharge
    values = backward_values(problem.sets, cost, situation.step, unaffordable(problem, situation))
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


def unaffordable(problem: Problem, situation: Situation) -> Integers:
    """Pairs of the present state after which a budget could not be kept for sure."""
    pairs = np.array(problem.process.pairs_of(situation.state), dtype=np.int64)
    fits = np.ones(len(pairs), dtype=bool)
    for budget in budgets_of(problem.rules):
        fits &= WorstCaseTail(budget, problem.sets).affordable(situation)
    return pairs[~fits]


def _side_prices(
    problem: Problem, gradient: Array, situation: Situation, plan: Visitation | None
) -> tuple[tuple[RowPrice, ...], Array]:
    """The side constraints at a gradient, and what they add to the cost of each visit ((H - h) x P).

    The linear programme is solved by HiGHS, whatever the settings name: it is the one that gives duals.
    """
    oracle = LinearProgramming(problem.sets, problem.rules, base=lambda: problem.polytope)
    oracle.extreme_point(gradient, situation, np.random.default_rng(0))
    polytope, _ = oracle.compiled(situation)
    assert oracle.last_solution is not None and oracle.last_solution.row_dual is not None
    duals = oracle.last_solution.row_dual
    tails = [WorstCaseTail(budget, problem.sets) for budget in budgets_of(problem.rules)]
    budget_of = {polytope.budget_row(tail.budget.name): tail for tail in tails}
    flow = {id(row) for row in polytope.model.flow.values()}
    matrix = polytope.programme.matrix.tocsr()
    ahead = slice(polytope.step_range(situation.step)[0], len(polytope.move_pair))
    surcharge = np.zeros((problem.horizon - situation.step, problem.process.number_of_pairs))
    prices = []
    for index, row in enumerate(polytope.programme.rows):
        if id(row) in flow:
            continue
        price, tail = float(duals[index]), budget_of.get(index)
        if tail is not None:
            # A budget costs the same at every step, also for moves that no plan can reach.
            surcharge -= price * tail.pair_cost
            slack = None if plan is None else _budget_slack(tail, situation, plan)
            words, unit = tail.budget.describe(problem.coordinates), natural_unit(tail.pair_cost.astype(float))
            prices.append(RowPrice(row.name, row.name, tail.budget.name, words, price, slack, unit))
            continue
        entries = matrix[[index]].toarray().ravel()
        surcharge[polytope.move_step[ahead] - situation.step, polytope.move_pair[ahead]] -= price * entries[ahead]
        slack = None if plan is None else _row_slack(polytope, index, entries, situation, plan)
        rule, component = _rule_of(polytope, row), row.parent_component().local_name
        lower, upper = float(polytope.programme.row_lower[index]), float(polytope.programme.row_upper[index])
        unit, words = natural_unit(entries[: len(polytope.move_pair)]), f"{rule}: {limits_text(lower, upper)}"
        prices.append(RowPrice(row.name, component, rule, words, price, slack, unit, lower, upper))
    return tuple(prices), surcharge


def natural_unit(entries: Array) -> float:
    """The least that a move uses of a limit at all, to two digits; 1 where no move uses it."""
    used = np.abs(entries[entries != 0.0])
    return float(f"{used.min():.2g}") if len(used) else 1.0


def _rule_of(polytope: CompiledPolytope, row: Any) -> str:
    """The constraint that has added a row."""
    component = row.parent_component()
    while component.parent_block() is not polytope.model:
        component = component.parent_block()
    return str(polytope.model.added_by[component.parent_component().local_name])


def _budget_slack(tail: WorstCaseTail, situation: Situation, plan: Visitation) -> float:
    """What is left of a budget after the moves made and those expected."""
    expected = float(tail.pair_cost @ plan.expected_counts(len(tail.pair_cost)))
    return tail.budget.limit - tail.spent(situation) - expected


def _row_slack(
    polytope: CompiledPolytope, index: int, entries: Array, situation: Situation, plan: Visitation
) -> float | None:
    """Distance to the nearer bound of a row; None where it has variables of the user's own."""
    if entries[len(polytope.move_pair) :].any():
        return None
    past = [polytope.column(step, pair) for step, pair in enumerate(situation.decisions)]
    planned = [polytope.column(step, pair) for step, pair in zip(plan.step.tolist(), plan.pair.tolist(), strict=True)]
    activity = float(entries[past].sum() + entries[planned] @ plan.probability)
    programme = polytope.programme
    return float(min(programme.row_upper[index] - activity, activity - programme.row_lower[index]))
