"""What a discretised model says about one moment: its differential variables, and the equations that hold at that time."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from tcbo_pyomo.plant.pyomo_model.structure import free_variables
from tcbo_pyomo.plant.pyomo_model.time_axis import derivatives, variables_over


def variables_at(model: pyo.ConcreteModel, time: Any, when: Any) -> set[int]:
    """The identities of the variables of one moment."""
    return {id(reference[when]) for _, reference in variables_over(model, time) if when in reference}


def rows_at(model: pyo.ConcreteModel, time: Any, when: Any) -> list[Any]:
    """The active equations that speak of one moment only; those of the discretisation join several."""
    members = variables_at(model, time, when)
    found = []
    for row in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
        variables = free_variables(row) if row.equality else []
        if variables and all(id(v) in members for v in variables):
            found.append(row)
    return found


def moment_of_end(
    model: pyo.ConcreteModel, time: Any, begin: Any, finish: Any
) -> tuple[list[tuple[Any, Any, Any]], list[Any]]:
    """(differential variable at the start, at the end, its derivative at the end) and the equations at the end."""
    by_data = {id(reference[finish]): reference for _, reference in variables_over(model, time) if finish in reference}
    found = []
    for slope in derivatives(model, time):
        state = slope.get_state_var()
        for index, data in slope.items():
            if id(data) in by_data and by_data[id(data)][finish] is data:
                end = state[index]
                found.append((by_data[id(end)][begin], end, data))
    return found, rows_at(model, time, finish)
