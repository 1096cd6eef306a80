"""Shadow prices of the constraints that couple the steps of an episode: the duals of their rows in the polytope.

A price is the change of the smallest utility per unit more of the limit, so it is negative for a limit from above that
binds: one more unit of fuel buys so much less variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.compiled_polytope import CompiledPolytope
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.worst_case_budget import WorstCaseTail
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.finite import Problem


@dataclass(frozen=True)
class RowPrice:
    """One side constraint of the polytope.

    Attributes
    ----------
    name
        Its name in the Pyomo model.
    budget
        The name of the budget it belongs to; None for a row of the user's own.
    shadow_price
        Change of the smallest utility per unit of its bound.
    slack
        How much of it the plan leaves unused; None where a plan's visits alone do not tell.
    """

    name: str
    budget: str | None
    shadow_price: float
    slack: float | None


def side_prices(
    problem: Problem, gradient: Array, situation: Situation, plan: Visitation | None
) -> tuple[tuple[RowPrice, ...], Array]:
    """The side constraints at a gradient, and what they add to the cost of each visit ((H - h) x P).

    The linear programme is solved by HiGHS, whatever the settings name: it is the one that gives duals.
    """
    oracle = LinearProgramming(problem.sets, problem.rules)
    oracle.extreme_point(gradient, situation, np.random.default_rng(0))
    polytope, _ = oracle.compiled(situation)
    assert oracle.last_solution is not None and oracle.last_solution.row_dual is not None
    duals = oracle.last_solution.row_dual
    tails = [WorstCaseTail(rule, problem.sets) for rule in problem.rules if isinstance(rule, Budget)]
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
            prices.append(RowPrice(row.name, tail.budget.name, price, slack))
            continue
        entries = matrix[[index]].toarray().ravel()
        surcharge[polytope.move_step[ahead] - situation.step, polytope.move_pair[ahead]] -= price * entries[ahead]
        slack = None if plan is None else _row_slack(polytope, index, entries, situation, plan)
        prices.append(RowPrice(row.name, None, price, slack))
    return tuple(prices), surcharge


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
