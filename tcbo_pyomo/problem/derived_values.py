"""Numbers of the inputs that are expressions: at the start, where a move led, and from a campaign file without any code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.expression_data import NotData, evaluated, expression_data
from tcbo_pyomo.plant.black_box_inputs import BlackBoxInput, Moment, derived_inputs
from tcbo_pyomo.plant.dynamics import Dynamics

Numbers = Mapping[str, float]


def values_of(derived: Sequence[BlackBoxInput], states: Numbers, actions: Numbers) -> dict[str, float]:
    """Each expression whose states and actions are given."""
    found: dict[str, float] = {}
    for given in derived:
        try:
            found[given.name] = given.number(Moment(states, actions))
        except BadInput:
            continue  # It asks for something that is not given, and is then missing.
    return found


def completed_start(start: Mapping[str, Any], dynamics: Dynamics, coordinates: Sequence[Coordinate]) -> dict[str, Any]:
    """The start with the expressions that its states determine, and the actions in force before the first move."""
    known = {c.name: c.value_of(start[c.name]) for c in coordinates if c.name in start}
    middle = np.mean(dynamics.actions.bounds(), axis=0).tolist()
    limits = dict(zip(dynamics.actions.names or (), middle, strict=True))
    actions = {name: float(start.get(name, value)) for name, value in limits.items()}
    found = {name: value for name, value in start.items() if name in known or name not in limits}
    for given in derived_inputs(dynamics):
        if given.name in start:
            continue
        moment = Moment(known, actions)
        number = given.number(moment)
        unknown = sorted(name for name in moment.actions_asked if name not in start)
        if unknown:
            raise BadInput(
                f"start: the input '{given.name}' depends on the action {', '.join(unknown)}; give its value before the "
                f"first move, start={{..., '{unknown[0]}': value}}"
            )
        found[given.name] = number
    return found


def derived_data(
    derived: Sequence[BlackBoxInput], coordinates: Sequence[Coordinate], actions: Sequence[str]
) -> list[dict[str, Any]]:
    """The expressions as arithmetic; without a formula where one has more in it."""
    if not derived:
        return []
    from pyomo.environ import ConcreteModel, Var

    own = {given.name for given in derived}
    states = [c.name for c in coordinates if c.name not in own]
    model = ConcreteModel()
    model.state, model.action = Var(states), Var(list(actions))
    leaves = {id(model.state[name]): ["state", name] for name in states}
    leaves |= {id(model.action[name]): ["action", name] for name in actions}
    moment = Moment(dict(model.state), dict(model.action))
    found: list[dict[str, Any]] = []
    for given in derived:
        try:
            found.append({"name": given.name, "formula": expression_data(given.of(moment), leaves)})
        except NotData:
            found.append({"name": given.name})
    return found


def stored_values(derived: Sequence[Mapping[str, Any]], states: Numbers, actions: Numbers) -> dict[str, float]:
    """As `values_of`, from what `derived_data` wrote."""
    values, found = {"state": states, "action": actions}, {}
    for given in derived:
        if "formula" in given:
            try:
                found[str(given["name"])] = float(evaluated(given["formula"], lambda kind, name: values[kind][name]))
            except KeyError:
                continue
    return found
