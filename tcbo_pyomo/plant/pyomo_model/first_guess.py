"""First values of everything inside a step: the states stand still, and what follows from them is worked out one by one.

Models come with poor values or none. Where a row has a single unknown left, the row gives it; so most of a flowsheet follows
from its states and inputs. Where nothing follows any more, a derivative is taken to be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo
from pyomo.util.calc_var_value import calculate_variable_from_constraint

from tcbo_pyomo.plant.pyomo_model.moment import rows_at, variables_at
from tcbo_pyomo.plant.pyomo_model.structure import free_variables
from tcbo_pyomo.plant.pyomo_model.time_axis import derivatives, variables_over


def spread_states(
    model: pyo.ConcreteModel, time: Any, finish: Any, states: Sequence[tuple[Any, Any]], inputs: Sequence[Any]
) -> None:
    """Give every variable of a discretised step the value it has when the states at its end are those at its start."""
    over_time = list(variables_over(model, time))
    at_end = variables_at(model, time, finish)
    for start, end in states:
        end.set_value(start.value, skip_validation=True)
    known = {id(end) for _, end in states} | {id(v) for v in inputs}
    waiting = [(row, free_variables(row)) for row in rows_at(model, time, finish)]
    slopes = [data for slope in derivatives(model, time) for data in slope.values() if id(data) in at_end]
    _work_out(waiting, known, slopes)
    given = {id(start) for start, _ in states}
    for _, reference in over_time:
        if finish not in reference or reference[finish].value is None:
            continue
        for data in reference.values():
            if id(data) not in given and not data.fixed:
                data.set_value(reference[finish].value, skip_validation=True)


def _work_out(waiting: list[tuple[Any, list[Any]]], known: set[int], slopes: Sequence[Any]) -> None:
    """Solve rows with one unknown until there are none; then take a derivative to be zero, and go on."""
    while True:
        found = False
        for row, unknowns in waiting:
            left = [v for v in unknowns if id(v) not in known]
            if len(left) == 1:
                _solve(row, left[0])
                known.add(id(left[0]))
                found = True
        if found:
            continue
        still = next((slope for slope in slopes if id(slope) not in known), None)
        if still is None:
            return
        still.set_value(0.0, skip_validation=True)
        known.add(id(still))


def _solve(row: Any, variable: Any) -> None:
    """The variable from its row; as it was where that fails."""
    before = variable.value
    if before is None:
        variable.set_value(1.0, skip_validation=True)
    try:
        calculate_variable_from_constraint(variable, row)
    except Exception:
        variable.set_value(before, skip_validation=True)
