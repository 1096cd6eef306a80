"""Every number of a compiled programme is checked before a solver sees it; what is wrong is named in Pyomo's terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from pyomo.core.base.constraint import ConstraintData
from pyomo.core.base.var import VarData

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array


def refuse_infinite_entries(
    matrix: sparse.csc_matrix, rows: Sequence[ConstraintData], columns: Sequence[VarData]
) -> None:
    """Refuse a coefficient that is NaN or infinite: HiGHS through Pyomo drops such rows and still says "optimal"."""
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        row = rows[matrix.indices[bad[0]]]
        column = columns[int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1]
        raise BadInput(
            f"constraint '{row.name}': the coefficient of '{column.name}' is {matrix.data[bad[0]]}; "
            "it must be a finite number"
        )


def refuse_infinite_rows(lower: Array, upper: Array, rows: Sequence[ConstraintData]) -> None:
    """Refuse rows whose constants are NaN, or infinite on the wrong side."""
    bad = np.isnan(lower) | np.isnan(upper) | (lower == np.inf) | (upper == -np.inf)
    if bad.any():
        index = int(bad.argmax())
        raise BadInput(
            f"constraint '{rows[index].name}': its bounds are [{lower[index]}, {upper[index]}]; "
            "the constant terms must be finite numbers"
        )


def column_bounds(columns: Sequence[VarData]) -> tuple[Array, Array]:
    """Lower and upper bounds of the variables, their domains included; fixed variables have two equal bounds."""
    try:
        pairs = [(v.value, v.value) if v.fixed else v.bounds for v in columns]
    except ValueError as error:
        raise BadInput(f"a variable has a bound that is no number: {error}") from error
    lower = np.array([-np.inf if pair[0] is None else pair[0] for pair in pairs], dtype=float)
    upper = np.array([np.inf if pair[1] is None else pair[1] for pair in pairs], dtype=float)
    fixed = np.fromiter((v.fixed for v in columns), dtype=bool, count=len(columns))
    bad = np.isnan(lower) | np.isnan(upper) | (lower == np.inf) | (upper == -np.inf)
    bad |= fixed & ~(np.isfinite(lower) & np.isfinite(upper))
    if bad.any():
        index = int(bad.argmax())
        raise BadInput(
            f"variable '{columns[index].name}' {'is fixed without a value' if fixed[index] else 'has no usable bound'}"
            f" (bounds [{lower[index]}, {upper[index]}]); give finite numbers"
        )
    return lower, upper


def integrality(columns: Sequence[VarData]) -> NDArray[np.bool_]:
    """Which variables take whole numbers only; other discrete domains are refused."""
    integral = np.fromiter((not v.is_continuous() for v in columns), dtype=bool, count=len(columns))
    for index in np.flatnonzero(integral).tolist():
        if not (columns[index].is_integer() or columns[index].is_binary()):
            raise BadInput(
                f"variable '{columns[index].name}' has the domain {columns[index].domain}; "
                "a linear programme takes continuous, integer and binary variables"
            )
    return integral
