"""The start of a step: initial conditions of the user's model give way to the states, and what leads from these is kept.

At the start only those equations are kept that lead from the states to what the discretisation needs there. The others
(rates, outlets, accumulations at that moment) say nothing about the step, and in models with a conserved quantity
they are not even determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo
from pyomo.util.calc_var_value import calculate_variable_from_constraint

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.plant.pyomo_model.structure import determine, free_variables
from tcbo_pyomo.plant.pyomo_model.time_axis import derivatives, variables_over


def free_initial_conditions(model: pyo.ConcreteModel, time: Any, begin: Any, restarting: Sequence[str]) -> None:
    """Unfix what the user has fixed as an initial condition: the states give it now."""
    parts = [part for slope in derivatives(model, time) for part in (slope, slope.get_state_var())]
    initial = {
        name: reference[begin]
        for name, reference in variables_over(model, time)
        if begin in reference and any(reference[begin].parent_component() is part for part in parts)
    }
    for name in restarting:
        if name not in initial:
            raise BadInput(
                f"restarting: '{name}' is not a differential variable of the model; {suggestion(name, initial)}"
            )
        if not initial[name].fixed:
            raise BadInput(f"restarting: '{name}' has no value at the start of a step; fix it there")
    for name, variable in initial.items():
        if name not in restarting:
            variable.unfix()


def reduced_start(
    model: pyo.ConcreteModel, time: Any, begin: Any, rows: list[Any], starts: list[Any], known: list[Any]
) -> list[Any]:
    """Keep of the equations at the start those that what comes later needs; the rest is switched off."""
    when = {id(data): t for _, reference in variables_over(model, time) for t, data in reference.items()}
    at_start: list[Any] = []
    later: list[Any] = []
    for row in rows:
        times = {when.get(id(v)) for v in free_variables(row)}
        (at_start if times == {begin} or not times else later).append(row)
    equations = [row for row in at_start if row.equality]
    for row in [row for row in equations if _is_initial_condition(row, starts)]:
        _take_initial_condition(row)
        equations.remove(row)
    needed = {id(v): v for row in later for v in free_variables(row) if when.get(id(v)) == begin}
    found = determine(equations, known, [*needed.values()])
    if found.undetermined:
        raise BadInput(
            f"model: '{found.orphans[0].name}' at the start of a step follows from no state; declare it as a state, or "
            "list it under `restarting` if every step begins with the same value"
        )
    if found.contradictory:
        raise BadInput(
            f"model: inconsistent initial condition, '{found.contradictory[0].name}' fixes what the states already give; "
            "declare fewer states, or deactivate it"
        )
    kept = {id(row) for row in found.rows}
    live = {id(v) for v in [*known, *found.unknowns]}
    for row in at_start:
        inequality = not row.equality and all(id(v) in live for v in free_variables(row))
        if id(row) not in kept and not inequality:
            row.deactivate()
    return [row for row in rows if row.active]


def _is_initial_condition(row: Any, starts: Sequence[Any]) -> bool:
    variables = free_variables(row)
    return len(variables) == 1 and any(variables[0] is start for start in starts)


def _take_initial_condition(row: Any) -> None:
    """x(0) == 3 as a row: the value becomes that of the state, the row is switched off."""
    variable = free_variables(row)[0]
    if variable.value is None:
        variable.set_value(1.0, skip_validation=True)
    calculate_variable_from_constraint(variable, row)
    row.deactivate()
