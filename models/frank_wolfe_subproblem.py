"""The Frank-Wolfe subproblem (section 4, equation "frank-wolfe-sub-problem"): a linear objective on the polytope.

    minimise  sum_{h, x, a} gradient(x, a) visitation[h, x, a]   over the polytope

This model is the one that runs: it is compiled once for HiGHS, whose re-plans change only costs and bounds of the arrays,
and it is what a solver of Pyomo's SolverFactory is given at each re-plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.state_action_polytope import build_state_action_polytope
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.plant.process import Process

NEGLIGIBLE = 1e-9
"""Visits below this are rounding of the solver."""


def build_frank_wolfe_subproblem(
    process: Process,
    start: Any,
    steps: int,
    constraints: Sequence[TransitionConstraint | Callable[[pyo.ConcreteModel], None]] = (),
    past: Sequence[int] = (),
    sets: EpisodeSets | None = None,
    gradient: Array | None = None,
) -> pyo.ConcreteModel:
    """The polytope (see `build_state_action_polytope`) with the Objective `expected_gain`.

    The gradient may be set later, with `set_gradient`; until then it is zero. Objectives that a constraint has added are
    deactivated: what is planned for is the planner's own.
    """
    model = build_state_action_polytope(process, start, steps, constraints, past, sets)
    for objective in model.component_data_objects(pyo.Objective, active=True, descend_into=True):
        objective.deactivate()
    model.expected_gain = pyo.Objective(expr=0.0, sense=pyo.minimize)
    if gradient is not None:
        set_gradient(model, gradient)
    return model


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
