"""What a plan that begins with a given move can learn at most, from the prices of the rules in another plan.

Weak duality: whatever prices y the rows of rules have, with their bounds b,

    min over plans of <gradient, d>   >=   y'b + min over policies of <gradient - A'y, d>,

and the right side is one backward induction, for all first moves at once. At the prices of the best plan the bound of its own
move is its value; of the other moves most are seen to give up too much without a linear programme of their own.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.models.backward_recursion import BackwardRecursion
from tcbo_pyomo.planning.finite.step_gradient import by_step
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope
from tcbo_pyomo.solvers.bounds import Bounds

ROUNDING = 1e-9
"""Reduced costs of variables of the user's own below this are taken for zero."""


@timed("backward induction")
def most_learned(
    polytope: CompiledPolytope, gradient: Array, situation: Situation, bounds: Bounds, row_dual: Array
) -> Array:
    """For each pair of the present state an upper bound of what a plan that begins with it learns.

    Parameters
    ----------
    polytope, bounds
        The polytope and the bounds of a plan from here.
    gradient
        One value per state-action pair, or two (see `step_gradient`).
    situation
        Where the plant is.
    row_dual
        Prices of all rows, from any solution; the better they are, the tighter is the bound.
    """
    sets, moves = polytope.sets, len(polytope.move_pair)
    prices = row_dual[polytope.side_rows]
    # A price counts at the bound of its sign; where there is none it can only be zero.
    bound = np.where(prices > 0.0, bounds.row_lower[polytope.side_rows], bounds.row_upper[polytope.side_rows])
    prices, bound = np.where(np.isfinite(bound), prices, 0.0), np.where(np.isfinite(bound), bound, 0.0)
    reduced = -(polytope.side_matrix.T @ prices)
    ahead = slice(polytope.step_range(situation.step)[0], moves)
    made = [polytope.column(step, pair) for step, pair in enumerate(situation.decisions)]
    own = np.where(np.abs(reduced[moves:]) > ROUNDING, reduced[moves:], 0.0)
    at = np.where(own > 0.0, bounds.column_lower[moves:], bounds.column_upper[moves:])
    constant = prices @ bound + reduced[made].sum() + own[own != 0.0] @ at[own != 0.0]
    cost = by_step(gradient, sets.horizon - situation.step)
    cost[polytope.move_step[ahead] - situation.step, polytope.move_pair[ahead]] += reduced[ahead]
    recursion = BackwardRecursion(sets)
    step_back = recursion.best_of(lambda step, later: cost[step - situation.step] + sets.process.expected(later))
    values = recursion.values(situation.step, step_back)
    here = slice(*sets.process.pair_offsets[situation.state : situation.state + 2])
    return -(constant + cost[0, here] + sets.process.expected(values[1])[here])
