"""A Pyomo model with smooth constraints, walked once into CasADi and solved many times.

    row_lower <= g(x, p) <= row_upper,   column_lower <= x <= column_upper

The constraints of a trajectory do not change between re-plans, so they are written once as CasADi expressions
with exact sparse derivatives. Mutable Params and fixed Vars stay symbols p, read anew before each solve. What
cannot be compiled is refused by name, never skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi
import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from pyomo.core.base.constraint import ConstraintData
from pyomo.core.base.var import VarData

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.casadi_expressions import CasadiWriter
from tcbo_pyomo.plant.pyomo_model.smooth_parts import refuse_unsupported_components
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.compiled_checks import column_bounds, refuse_infinite_rows

TOLERANCE = 1e-6
"""How far a row or bound may be missed before our own arithmetic calls a point infeasible."""


@dataclass(frozen=True, eq=False)
class NonlinearProgramme:
    """Rows and columns of a compiled Pyomo model.

    Parameters
    ----------
    columns, rows
        The Pyomo variables and constraints behind the arrays.
    parameters
        Mutable Params and fixed Vars that occur in the constraints.
    variables, parameter_symbols, expressions
        CasADi columns: x (n), p (k) and g(x, p) (m).
    defined, formulas
        Variables that are no columns because a row gives them, and what they are as functions of x and p.
    """

    columns: tuple[VarData, ...]
    rows: tuple[ConstraintData, ...]
    parameters: tuple[Any, ...]
    variables: casadi.SX
    parameter_symbols: casadi.SX
    expressions: casadi.SX
    defined: tuple[VarData, ...]
    formulas: casadi.SX

    @cached_property
    def values_of_formulas(self) -> casadi.Function:
        """(x, p) -> the values of `defined`."""
        return casadi.Function("formulas", [self.variables, self.parameter_symbols], [self.formulas])

    def defined_values(self, values: Array) -> Array:
        """The values of the variables that are no columns."""
        return np.array(self.values_of_formulas(values, self.parameter_values()), dtype=float).ravel()

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Pyomo's names of the variables."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Pyomo's names of the constraints."""
        return tuple(row.name for row in self.rows)

    @cached_property
    def g(self) -> casadi.Function:
        """(x, p) -> g."""
        return casadi.Function("rows", [self.variables, self.parameter_symbols], [self.expressions])

    @cached_property
    def jac(self) -> casadi.Function:
        """(x, p) -> the sparse Jacobian of g, m x n."""
        jacobian = casadi.jacobian(self.expressions, self.variables)
        return casadi.Function("rows_jacobian", [self.variables, self.parameter_symbols], [jacobian])

    @cached_property
    def hess(self) -> casadi.Function:
        """(x, p, multipliers) -> the upper triangle of the Hessian of multipliers' g, n x n."""
        multipliers = casadi.SX.sym("multipliers", len(self.rows))
        hessian = casadi.hessian(casadi.dot(multipliers, self.expressions), self.variables)[0]
        arguments = [self.variables, self.parameter_symbols, multipliers]
        return casadi.Function("rows_hessian", arguments, [casadi.triu(hessian)])

    @cached_property
    def nonlinear_rows(self) -> NDArray[np.bool_]:
        """For each row whether it is not linear in x."""
        dependent = casadi.which_depends(self.expressions, self.variables, 2, True)
        return np.array(dependent, dtype=bool).reshape(len(self.rows))

    def column_bounds(self) -> tuple[Array, Array]:
        """Bounds of the variables as the model has them now."""
        return column_bounds(self.columns)

    def row_bounds(self) -> tuple[Array, Array]:
        """Bounds of the constraints as the model has them now."""
        bounds = [(pyo.value(row.lower), pyo.value(row.upper)) for row in self.rows]
        lower = np.array([-np.inf if low is None else low for low, _ in bounds], dtype=float)
        upper = np.array([np.inf if high is None else high for _, high in bounds], dtype=float)
        refuse_infinite_rows(lower, upper, self.rows)
        return lower, upper

    def parameter_values(self) -> Array:
        """Values of p as the model has them now."""
        # A variable is asked directly: a model may fix hundreds, and `pyo.value` takes ten times as long.
        values = [p.value if held else pyo.value(p, exception=False) for p, held in self._holders]
        found = np.array([np.nan if value is None else value for value in values], dtype=float)
        if not np.isfinite(found).all():
            position = int(np.isfinite(found).argmin())
            raise BadInput(f"'{self.parameters[position].name}' is {values[position]}; give it a finite value before planning")
        return found

    @cached_property
    def _holders(self) -> list[tuple[Any, bool]]:
        """The parameters, and whether each is a variable."""
        return [(parameter, parameter.is_variable_type()) for parameter in self.parameters]

    def start_values(self) -> Array:
        """The values the model's variables carry, or the nearest to zero their bounds allow."""
        lower, upper = self.column_bounds()
        values = [0.0 if column.value is None else column.value for column in self.columns]
        return np.clip(np.array(values, dtype=float), lower, upper)

    def row_values(self, values: Array) -> Array:
        """g at a point (m)."""
        return np.array(self.g(values, self.parameter_values()), dtype=float).ravel()

    def violation(self, values: Array, bounds: Bounds) -> tuple[float, str]:
        """The largest amount by which a point misses a bound or a row, and the name of that one."""
        if not np.isfinite(values).all():
            return np.inf, self.column_names[int((~np.isfinite(values)).argmax())]
        rows = self.row_values(values)
        missed = np.concatenate(
            [
                np.maximum(bounds.column_lower - values, values - bounds.column_upper),
                np.maximum(bounds.row_lower - rows, rows - bounds.row_upper),
            ]
        )
        missed = np.where(np.isnan(missed), np.inf, missed)
        # A freed row may have any value, an undefined one too.
        missed[len(values) :][np.isinf(bounds.row_lower) & np.isinf(bounds.row_upper)] = 0.0
        worst = int(missed.argmax())
        names = self.column_names + self.row_names
        return max(float(missed[worst]), 0.0), names[worst]


def compile_nonlinear_model(
    model: pyo.ConcreteModel, first: Sequence[VarData] = (), defined: Sequence[tuple[VarData, ConstraintData]] = ()
) -> NonlinearProgramme:
    """Walk the active constraints of a model once.

    Parameters
    ----------
    model
        A model of continuous variables and smooth constraints, without an objective.
    first
        Variables that take the first columns, in this order; the other variables of the model follow.
    defined
        Variables that are written as formulas, each with the row that gives it (the variable has a constant factor there)
        and after those it needs. They are no columns, and their rows are no rows.
    """
    refuse_unsupported_components(model)
    others = model.component_data_objects(pyo.Var, descend_into=True, active=True)
    # By identity: a Reference gives the same variable a second time.
    formulated = {id(variable) for variable, _ in defined}
    columns = list({id(v): v for v in [*first, *(v for v in others if not v.fixed and id(v) not in formulated)]}.values())
    for column in columns:
        if not column.is_continuous():
            raise BadInput(
                f"variable '{column.name}' has the domain {column.domain}; the nonlinear solver takes continuous "
                "variables only"
            )
    variables = casadi.SX.sym("x", len(columns))
    symbols = {id(column): variables[i] for i, column in enumerate(columns)}
    parameters: dict[int, tuple[Any, casadi.SX]] = {}

    def leaf(component: Any) -> Any:
        if id(component) in symbols:
            return symbols[id(component)]
        if component.is_constant():
            return float(pyo.value(component))
        if component.is_variable_type() and not component.fixed:
            raise BadInput(f"variable '{component.name}' is not part of the model; add it to the model that uses it")
        if id(component) not in parameters:
            parameters[id(component)] = component, casadi.SX.sym(component.name)
        return parameters[id(component)][1]

    for variable, row in defined:
        # A writer of its own: the other one must not remember anything that contains the unknown.
        own, unknown = CasadiWriter(leaf), casadi.SX.sym(variable.name)
        symbols[id(variable)] = unknown
        missed = own.write(row.body, f"constraint '{row.name}'") - own.write(row.upper, f"constraint '{row.name}'")
        slope = casadi.jacobian(missed, unknown)
        symbols[id(variable)] = -casadi.substitute(missed, unknown, 0.0) / slope
    writer = CasadiWriter(leaf)
    spent = {id(row) for _, row in defined}
    rows = [
        row
        for row in model.component_data_objects(pyo.Constraint, active=True, descend_into=True)
        if id(row) not in spent
    ]
    bodies = [writer.write(row.body, f"constraint '{row.name}'") for row in rows]
    return NonlinearProgramme(
        tuple(columns),
        tuple(rows),
        tuple(component for component, _ in parameters.values()),
        variables,
        casadi.vertcat(casadi.SX(0, 1), *(symbol for _, symbol in parameters.values())),
        casadi.vertcat(casadi.SX(0, 1), *bodies),
        tuple(variable for variable, _ in defined),
        casadi.vertcat(casadi.SX(0, 1), *(symbols[id(variable)] for variable, _ in defined)),
    )
