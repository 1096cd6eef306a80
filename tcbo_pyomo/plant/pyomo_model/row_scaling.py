"""Rows of a user's model brought to the size of one: plans are held to 1e-6 of a row, whatever its unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo
from pyomo.core.expr.calculus.derivatives import Modes, differentiate

from tcbo_pyomo.plant.pyomo_model.structure import free_variables

LARGEST = 1e8
"""No row is made smaller or larger by more than this."""


def scale_rows(rows: Sequence[Any]) -> None:
    """Divide each row by its largest term, linearised at the values the model carries."""
    for row in rows:
        size = _size(row)
        if size == 1.0:
            continue
        factor = 1.0 / size
        if row.equality:
            row.set_value(factor * row.body == factor * row.upper)
        else:
            low, high = (None if limit is None else factor * limit for limit in (row.lower, row.upper))
            row.set_value((low, factor * row.body, high))


def _size(row: Any) -> float:
    """The largest |df/dx * x|, as a power of ten so that the row stays readable; one where it cannot be told."""
    variables = free_variables(row)
    try:
        slopes = differentiate(row.body, wrt_list=variables, mode=Modes.reverse_numeric)
        terms = [abs(slope * pyo.value(v)) for slope, v in zip(slopes, variables, strict=True)]
    except (ArithmeticError, ValueError, TypeError):
        return 1.0
    largest = max((term for term in terms if math.isfinite(term)), default=0.0)
    if largest == 0.0:
        return 1.0
    return 10.0 ** round(math.log10(min(max(largest, 1.0 / LARGEST), LARGEST)))
