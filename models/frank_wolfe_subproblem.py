"""The Frank-Wolfe subproblem (section 4, equation "frank-wolfe-sub-problem"): a linear objective on the polytope.

minimise  sum_{h, x, a} gradient(x, a) visitation[h, x, a]   over the polytope
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.visitation import Visitation


def add_linear_objective(model: pyo.ConcreteModel, gradient: Array) -> pyo.Objective:
    """Give the polytope the objective `gradient` (one value per state-action pair); an earlier one is replaced."""
    if gradient.shape != (model.process.number_of_pairs,) or not np.isfinite(gradient).all():
        raise BadInput(f"gradient must be {model.process.number_of_pairs} finite values, one per state-action pair")
    model.del_component("expected_gain")
    cost = gradient[model.move_pair].tolist()
    model.expected_gain = pyo.Objective(
        expr=LinearExpression(linear_coefs=cost, linear_vars=list(model.visitation.values())), sense=pyo.minimize
    )
    return model.expected_gain


def read_visitation(model: pyo.ConcreteModel) -> Visitation:
    """The visitation of a solved model."""
    values = np.array([variable.value or 0.0 for variable in model.visitation.values()])
    used = np.flatnonzero(values > 0.0)
    return Visitation(model.move_step[used], model.move_pair[used], values[used])
