"""Bounds of a compiled model as arrays, and the Pyomo model itself under other bounds while a Pyomo solver has it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from pyomo.core.base.constraint import ConstraintData
from pyomo.core.base.var import VarData

from tcbo_pyomo.foundation.arrays import Array


class Bounds(NamedTuple):
    """Bounds of the columns and of the rows, each an array in the order of the programme."""

    column_lower: Array
    column_upper: Array
    row_lower: Array
    row_upper: Array


@contextmanager
def under_bounds(
    columns: Sequence[VarData], rows: Sequence[ConstraintData], compiled: Bounds, wanted: Bounds
) -> Iterator[None]:
    """The model with other bounds: the user's own components by their own names, put back as they were afterwards.

    Parameters
    ----------
    columns, rows
        The variables and constraints behind the arrays.
    compiled
        The bounds that the model has now.
    wanted
        The bounds that it shall have; a row without any is deactivated, for Pyomo takes no such constraint.
    """
    moved = (wanted.column_lower != compiled.column_lower) | (wanted.column_upper != compiled.column_upper)
    changed_columns = [(i, columns[i], columns[i].lower, columns[i].upper) for i in np.flatnonzero(moved).tolist()]
    moved = (wanted.row_lower != compiled.row_lower) | (wanted.row_upper != compiled.row_upper)
    changed_rows = [(i, rows[i], rows[i].expr) for i in np.flatnonzero(moved).tolist()]
    try:
        for i, column, _, _ in changed_columns:
            column.setlb(_finite(wanted.column_lower[i]))
            column.setub(_finite(wanted.column_upper[i]))
        for i, row, _ in changed_rows:
            # What the compiler moved from the body of the row to its bounds.
            constant = row.lb - compiled.row_lower[i] if row.ub is None else row.ub - compiled.row_upper[i]
            _bound(row, wanted.row_lower[i] + constant, wanted.row_upper[i] + constant)
        yield
    finally:
        for _, column, lower, upper in changed_columns:
            column.setlb(lower)
            column.setub(upper)
        for _, row, expression in changed_rows:
            row.set_value(expression)
            row.activate()


def _bound(row: ConstraintData, lower: float, upper: float) -> None:
    if lower == upper:
        row.set_value(row.body == float(lower))
    elif math.isfinite(lower) or math.isfinite(upper):
        row.set_value((_finite(lower), row.body, _finite(upper)))
    else:
        row.deactivate()


def _finite(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None
