"""The linear rows of a rule as plain numbers: what the rule adds to the visits of a model, read once.

A row is `lower <= constant + coefficients of the moves + arrivals + variables of the rule's own <= upper`. Bounds that a rule
sets on the visits themselves (`model.visitation[move].fix(0)`) are rows like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.components import PyomoModel, new_rows, row_limits

INFINITE = float("inf")


@dataclass(frozen=True, eq=False)
class LinearRow:
    """One row.

    Attributes
    ----------
    name, component
        The row in the Pyomo model, and the component it belongs to.
    lower, upper
        Its limits; infinite where there is none.
    constant
        What it has without any move.
    coefficients
        One per column: the moves in the order of MOVES, then the arrivals where they are variables.
    own
        Coefficients of variables of the rule's own, by their position among them.
    """

    name: str
    component: str
    lower: float
    upper: float
    constant: float
    coefficients: Array
    own: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class OwnVariable:
    """A variable that a rule has added: its name, its bounds, and whether it takes whole numbers only."""

    name: str
    lower: float
    upper: float
    whole: bool


@dataclass(frozen=True, eq=False)
class RuleRows:
    """What a rule adds: its rows, the variables of its own in them, and the names of rows that are not linear."""

    rows: tuple[LinearRow, ...]
    own: tuple[OwnVariable, ...] = ()
    not_linear: tuple[str, ...] = ()


def rows_added(model: PyomoModel, columns: Sequence[Any], add: Callable[[PyomoModel], None]) -> RuleRows:
    """The rows that `add` puts into a model, as numbers over the given variables."""
    from pyomo.repn import generate_standard_repn

    bounds = [variable.bounds for variable in columns]
    added = new_rows(model, add)
    position = {id(variable): index for index, variable in enumerate(columns)}
    own: dict[int, tuple[int, OwnVariable]] = {}
    rows, refused = _bounds_set(columns, bounds), []
    for row in added:
        form = generate_standard_repn(row.body)
        if not form.is_linear():
            refused.append(row.name)
            continue
        coefficients, others = np.zeros(len(columns)), []
        for variable, number in zip(form.linear_vars, form.linear_coefs, strict=True):
            if id(variable) in position:
                coefficients[position[id(variable)]] += number
            else:
                index, _ = own.setdefault(id(variable), (len(own), own_variable(variable)))
                others.append((index, float(number)))
        component = row.parent_component().local_name
        rows.append(LinearRow(row.name, component, *row_limits(row), float(form.constant), coefficients, tuple(others)))
    return RuleRows(tuple(rows), tuple(variable for _, variable in own.values()), tuple(refused))


def own_variable(variable: Any) -> OwnVariable:
    """What has to be known of a variable of the rule's own."""
    lower, upper = variable.bounds
    whole = not variable.is_continuous()
    return OwnVariable(
        variable.name, -INFINITE if lower is None else lower, INFINITE if upper is None else upper, whole
    )


def _bounds_set(columns: Sequence[Any], before: Sequence[tuple[float | None, float | None]]) -> list[LinearRow]:
    """Variables that a rule has fixed or bounded, each as a row; in the model they are set free again, for other rows."""
    found = []
    for index, (variable, bounds) in enumerate(zip(columns, before, strict=True)):
        now = (variable.value, variable.value) if variable.fixed else variable.bounds
        if now == bounds:
            continue
        variable.unfix()
        variable.bounds = bounds
        coefficients = np.zeros(len(columns))
        coefficients[index] = 1.0
        lower, upper = (-INFINITE if now[0] is None else now[0]), (INFINITE if now[1] is None else now[1])
        name = variable.parent_component().local_name
        found.append(LinearRow(variable.name, f"bounds of {name}", lower, upper, 0.0, coefficients))
    return found
