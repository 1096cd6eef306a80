"""What a model for a nonlinear solver may consist of; everything else is refused by name."""

from __future__ import annotations

import pyomo.environ as pyo
from pyomo.core.base.external import ExternalFunction
from pyomo.core.base.set import SetOperator
from pyomo.dae import ContinuousSet, DerivativeVar
from pyomo.network import Port

from tcbo_pyomo.errors import BadInput

HARMLESS = {
    pyo.Block,
    pyo.BuildAction,
    pyo.BuildCheck,
    pyo.Constraint,
    pyo.Expression,
    pyo.Param,
    pyo.RangeSet,
    pyo.Set,
    pyo.Suffix,
    pyo.Var,
    SetOperator,
    # A function that is declared and not used does no harm; where it is used the expression is refused.
    ExternalFunction,
    Port,
}

REASONS = {
    # The transformation switches arcs off: an active one has no equations yet and would be left out of the plan.
    "Arc": "write its equations first, with TransformationFactory('network.expand_arcs')",
    "Objective": "the information objective is the planner's own; deactivate it",
    "SOSConstraint": "special ordered sets need a mixed-integer solver",
    "Disjunction": "apply a continuous reformulation first",
    "Disjunct": "apply a continuous reformulation first",
    "LogicalConstraint": "write it as smooth inequalities",
    "BooleanVar": "only continuous variables can be planned with",
    "Complementarity": "apply a smooth reformulation first",
    "DerivativeVar": "discretise it first, with TransformationFactory('dae.collocation') or 'dae.finite_difference'",
}


def refuse_unsupported_components(model: pyo.ConcreteModel) -> None:
    """Raise `BadInput` for the first active component that is not in the list of what can be compiled."""
    for block in model.block_data_objects(active=True, descend_into=True):
        for component in block.component_objects(active=True, descend_into=False):
            kind = component.ctype
            if kind is ContinuousSet:
                if not component.get_changed() and not component.get_discretization_info():
                    raise BadInput(f"ContinuousSet '{component.name}': {REASONS['DerivativeVar']}")
            elif kind is DerivativeVar or kind not in HARMLESS:
                reason = REASONS.get(kind.__name__, "it cannot be compiled")
                raise BadInput(f"{kind.__name__} '{component.name}' cannot be planned with: {reason}")
