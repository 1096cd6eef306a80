"""Pyomo's matrix compiler with errors that name the component, for models that should be linear."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from pyomo.common.log import LoggingIntercept
from pyomo.core.base.component import ActiveComponent
from pyomo.core.base.constraint import ConstraintData
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, Suffix, value
from pyomo.network import Port
from pyomo.repn import generate_standard_repn
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler, LinearStandardFormInfo

from tcbo_pyomo.errors import BadInput, InfeasiblePlan, TcboError

LINEAR_COMPONENTS = (Block, Constraint, Objective, Suffix, Port)
"""Component types that may be active; Var, Param, Set and Expression are always allowed."""


def standard_form(model: ConcreteModel) -> LinearStandardFormInfo:
    """The active constraints as matrix, `rhs` (an array of floats) and rows of (constraint, bound type).

    The bound type is 0 for an equality, 1 for `<=` and -1 for `>=`. Objectives are left out.
    """
    refuse_other_components(model)
    # Without `column_order`: it doubles the time, and mixes up fixed variables (pyomo 6.10.1).
    compiler = LinearStandardFormCompiler()
    try:
        with _without_objectives(model), LoggingIntercept(io.StringIO(), "pyomo"):
            form = compiler.write(model, mixed_form=True)
        form.rhs = np.array([float(number) for number in form.rhs])
    except Exception as error:
        raise _named(model, error) from error
    return form


def refuse_other_components(model: ConcreteModel) -> None:
    """Refuse active disjunctions, SOS, logical constraints, complementarities and the like by name."""
    for ctype in model.collect_ctypes(active=True, descend_into=True):
        if not issubclass(ctype, ActiveComponent) or ctype in LINEAR_COMPONENTS:
            continue
        for component in model.component_data_objects(ctype, active=True, descend_into=True):
            raise BadInput(
                f"{ctype.__name__} '{component.name}': the polytope takes linear components only (Constraint, Var, "
                "Param, Expression, Block); rewrite it with linear constraints or deactivate it"
            )


@contextmanager
def _without_objectives(model: ConcreteModel) -> Iterator[None]:
    objectives = list(model.component_data_objects(Objective, active=True, descend_into=True))
    for objective in objectives:
        objective.deactivate()
    try:
        yield
    finally:
        for objective in objectives:
            objective.activate()


def _named(model: ConcreteModel, error: Exception) -> TcboError:
    """The error of the first constraint that does not compile on its own."""
    with LoggingIntercept(io.StringIO(), "pyomo"):
        for constraint in model.component_data_objects(Constraint, active=True, descend_into=True):
            try:
                found = _problem(constraint)
            except Exception as own_error:
                found = BadInput(f"constraint '{constraint.name}' cannot be evaluated: {_one_line(own_error)}")
            if found is not None:
                return found
    return BadInput(f"the model does not compile to a linear programme: {_one_line(error)}")


def _problem(constraint: ConstraintData) -> TcboError | None:
    lower, body, upper = constraint.to_bounded_expression()
    bounds = (-math.inf if lower is None else value(lower), math.inf if upper is None else value(upper))
    terms = generate_standard_repn(body, quadratic=False)
    if terms.nonlinear_expr is not None:
        return BadInput(
            f"constraint '{constraint.name}' is not linear; the polytope takes linear components only: "
            "rewrite it with linear constraints or deactivate it"
        )
    for variable, coefficient in zip(terms.linear_vars, terms.linear_coefs, strict=True):
        if not _finite(coefficient):
            return BadInput(
                f"constraint '{constraint.name}': the coefficient of '{variable.name}' is {coefficient}; "
                "it must be a finite number"
            )
    if not _finite(terms.constant) or any(math.isnan(bound) for bound in bounds):
        return BadInput(
            f"constraint '{constraint.name}': its constant is {terms.constant} and its bounds are "
            f"[{bounds[0]}, {bounds[1]}]; they must be numbers (has every fixed variable and parameter a value?)"
        )
    if not terms.linear_vars and not bounds[0] <= terms.constant <= bounds[1]:
        return InfeasiblePlan(
            f"constraint '{constraint.name}' cannot hold: it has no free variable and its value "
            f"{terms.constant:g} is outside [{bounds[0]:g}, {bounds[1]:g}]"
        )
    return None


def _finite(number: Any) -> bool:
    return number is not None and math.isfinite(number)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
