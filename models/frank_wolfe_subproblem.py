"""The Frank-Wolfe subproblem (section 4, equation "frank-wolfe-sub-problem"): a linear objective on the polytope.

    minimise  sum_{h, x, a} gradient(x, a) visitation[h, x, a]   over the polytope

This model is the one that runs: it is compiled once for HiGHS, whose re-plans change only costs and bounds of the arrays,
and it is what a solver of Pyomo's SolverFactory is given at each re-plan.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.visitation import Visitation

NEGLIGIBLE = 1e-9
"""Visits below this are rounding of the solver."""


def as_frank_wolfe_subproblem(polytope: pyo.ConcreteModel) -> pyo.ConcreteModel:
    """The model of `build_state_action_polytope`, now with the Objective `expected_gain`.

    It is zero until `set_gradient`. Objectives that a constraint has added are deactivated: what is planned for is the
    planner's own.
    """
    for objective in polytope.component_data_objects(pyo.Objective, active=True, descend_into=True):
        objective.deactivate()
    polytope.expected_gain = pyo.Objective(expr=0.0, sense=pyo.minimize)
    return polytope


def set_gradient(model: pyo.ConcreteModel, gradient: Array) -> None:
    """Give `expected_gain` new costs, one per state-action pair; each counts at every step."""
    if gradient.shape != (model.process.number_of_pairs,) or not np.isfinite(gradient).all():
        raise BadInput(f"gradient must be {model.process.number_of_pairs} finite values, one per state-action pair")
    cost = gradient[model.move_pair].tolist()
    model.expected_gain.set_value(LinearExpression(linear_coefs=cost, linear_vars=list(model.visitation.values())))


def read_visitation(model: pyo.ConcreteModel, values: Array | None = None, first_step: int = 0) -> Visitation:
    """The visits from `first_step` on: those of the solved model, or `values` by move in the order of MOVES."""
    if values is None:
        values = np.array([variable.value or 0.0 for variable in model.visitation.values()])
    moves = len(model.move_pair)
    used = np.flatnonzero((values[:moves] > NEGLIGIBLE) & (model.move_step >= first_step))
    return Visitation(model.move_step[used], model.move_pair[used], values[used])
