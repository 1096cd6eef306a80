"""A Pyomo model with linear constraints as plain arrays, compiled once and solved many times.

    minimise  cost' x   subject to   row_lower <= matrix x <= row_upper,   column_lower <= x <= column_upper

Re-building a Pyomo model per re-plan costs more than solving it, so the model is walked once
(Pyomo's `LinearStandardFormCompiler`) and a re-plan changes only costs and bounds of the arrays. The user's own
constraints and variables are rows and columns like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike, NDArray
from pyomo.common.gc_manager import PauseGC
from pyomo.core.base.constraint import ConstraintData
from pyomo.core.base.var import VarData
from pyomo.environ import ConcreteModel
from pyomo.repn.plugins.standard_form import LinearStandardFormInfo

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.compiled_checks import (
    column_bounds,
    integrality,
    refuse_infinite_entries,
    refuse_infinite_rows,
)
from tcbo_pyomo.solvers.linear.standard_form import standard_form


@dataclass(frozen=True, eq=False)
class LinearProgramme:
    """Rows and columns of a compiled Pyomo model.

    Parameters
    ----------
    matrix
        rows x columns, sparse by columns, without duplicates.
    row_lower, row_upper
        Bounds of the rows; a two-sided constraint is one row, an equality has equal bounds.
    column_lower, column_upper
        Bounds of the columns; a variable that was fixed is held by two equal bounds.
    integrality
        For each column whether it takes whole numbers only.
    rows, columns
        The Pyomo constraints and variables behind the arrays.
    model
        The model they belong to: what users read, and what a solver of Pyomo's SolverFactory is given.
    """

    matrix: sparse.csc_matrix
    row_lower: Array
    row_upper: Array
    column_lower: Array
    column_upper: Array
    integrality: NDArray[np.bool_]
    rows: tuple[ConstraintData, ...]
    columns: tuple[VarData, ...]
    model: ConcreteModel

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Pyomo's names of the constraints."""
        return tuple(row.name for row in self.rows)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Pyomo's names of the variables; there may be 10^6, so they are written only when asked for."""
        return tuple(column.name for column in self.columns)

    def bounds(
        self,
        column_lower: ArrayLike | None = None,
        column_upper: ArrayLike | None = None,
        row_lower: ArrayLike | None = None,
        row_upper: ArrayLike | None = None,
    ) -> Bounds:
        """The given bounds, checked; None stands for the bounds as compiled."""
        return Bounds(
            self._checked("column_lower", column_lower, self.column_lower, np.inf),
            self._checked("column_upper", column_upper, self.column_upper, -np.inf),
            self._checked("row_lower", row_lower, self.row_lower, np.inf),
            self._checked("row_upper", row_upper, self.row_upper, -np.inf),
        )

    def with_whole_numbers(self, columns: NDArray[np.bool_]) -> LinearProgramme:
        """The same programme with whole numbers in the columns where the mask is True (an unsplit path)."""
        mask = np.asarray(columns)
        if mask.dtype != bool or mask.shape != self.integrality.shape:
            raise BadInput(
                f"columns has type {mask.dtype} and shape {mask.shape}; give one bool per column, "
                f"shape {self.integrality.shape}"
            )
        return replace(self, integrality=self.integrality | mask)

    def _checked(self, what: str, given: ArrayLike | None, compiled: Array, forbidden: float) -> Array:
        if given is None:
            return compiled
        array = np.ascontiguousarray(given, dtype=float) + 0.0  # a copy, with 0.0 for -0.0
        if array.shape != compiled.shape:
            raise BadInput(f"{what} has shape {array.shape}; the programme needs {compiled.shape}")
        refused = np.isnan(array) | (array == forbidden)
        if refused.any():
            index = int(refused.argmax())
            owner = self.columns[index] if what.startswith("column") else self.rows[index]
            raise BadInput(f"{what} of '{owner.name}' is {array[index]}; give a number or {-forbidden} for none")
        return array


def compile_linear_model(model: ConcreteModel, columns: Sequence[VarData]) -> LinearProgramme:
    """Compile the active linear constraints of a Pyomo model; its objectives are ignored.

    Parameters
    ----------
    model
        Any number of linear constraints, on blocks too.
    columns
        Variables that come first, in this order, even those that occur in no constraint. Other variables of the
        constraints follow. Fixed variables count as constants, as in Pyomo; a fixed variable among `columns` keeps
        its place as an empty column held at its value.

    Raises
    ------
    BadInput
        For a component that is not linear, or a number that is not finite; the component is named.
    InfeasiblePlan
        For a constraint without free variables that does not hold.
    """
    # The walk makes millions of small objects; collecting garbage meanwhile only costs time.
    with PauseGC():
        return _compiled(model, standard_form(model), columns)


def _compiled(model: ConcreteModel, form: LinearStandardFormInfo, columns: Sequence[VarData]) -> LinearProgramme:
    kinds = np.fromiter((row.bound_type for row in form.rows), dtype=np.int64, count=len(form.rows))
    owners = np.fromiter((id(row.constraint) for row in form.rows), dtype=np.int64, count=len(form.rows))
    # A two-sided constraint comes as two neighbouring rows, first `<=`, then `>=`: the second joins the first.
    joined = np.zeros(len(kinds), dtype=bool)
    joined[1:] = owners[1:] == owners[:-1]
    row_upper = np.where(kinds >= 0, form.rhs, np.inf)[~joined]
    row_lower = np.where(kinds <= 0, form.rhs, -np.inf)[~joined]
    row_lower[(np.cumsum(~joined) - 1)[joined]] = form.rhs[joined]

    position = {id(variable): index for index, variable in enumerate(columns)}
    if len(position) != len(columns):
        raise BadInput(f"{len(columns) - len(position)} of the {len(columns)} columns are given twice")
    for variable in form.columns:
        position.setdefault(id(variable), len(position))
    target = np.fromiter((position[id(variable)] for variable in form.columns), np.int64, len(form.columns))
    entries = form.A.tocsr()[np.flatnonzero(~joined)].tocoo()
    matrix = sparse.csc_matrix(
        (entries.data, (entries.row, target[entries.col])), shape=(entries.shape[0], len(position)), dtype=float
    )
    extra = (variable for variable in form.columns if position[id(variable)] >= len(columns))
    variables = (*columns, *extra)
    constraints = tuple(row.constraint for row, second in zip(form.rows, joined, strict=True) if not second)
    refuse_infinite_entries(matrix, constraints, variables)
    refuse_infinite_rows(row_lower, row_upper, constraints)
    column_lower, column_upper = column_bounds(variables)
    return LinearProgramme(
        matrix=matrix,
        row_lower=row_lower,
        row_upper=row_upper,
        column_lower=column_lower,
        column_upper=column_upper,
        integrality=integrality(variables),
        rows=constraints,
        columns=variables,
        model=model,
    )
