"""Variables of a user's model by name or by function, over time."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.core.base.indexed_component_slice import IndexedComponent_slice
from pyomo.core.base.var import VarData

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.plant.pyomo_model.states_and_inputs import ModelInput, ModelState, Where

Timed = dict[Any, VarData]
"""The data of one variable by time; one that does not depend on time has the single key None."""


def find_variable(model: pyo.ConcreteModel, declared: ModelState | ModelInput, where: Where) -> Timed:
    """The variable that a declaration means, by time."""
    what = f"{declared.kind} '{declared.name}'"
    found = _by_name(model, where, what) if isinstance(where, str) else _by_function(model, where, what)
    if isinstance(found, IndexedComponent_slice):
        found = pyo.Reference(found)
    text = where if isinstance(where, str) else getattr(found, "name", "its function's answer")
    if getattr(found, "ctype", None) is not pyo.Var and not isinstance(found, VarData):
        kind = getattr(getattr(found, "ctype", None), "__name__", type(found).__name__)
        raise BadInput(f"{what}: '{text}' is a {kind}, not a Var; name a variable of the model")
    if not found.is_indexed():
        data: Any = found
        return {None: data}
    by_time = dict(found.items())
    if not by_time:
        raise BadInput(f"{what}: '{text}' has no variable at any time")
    if isinstance(next(iter(by_time)), tuple):
        raise BadInput(f"{what}: '{text}' has indices besides time; name one, such as '{text}[*,{_example(by_time)}]'")
    return by_time


def _example(by_time: dict[Any, Any]) -> str:
    return ",".join(str(part) for part in next(iter(by_time))[1:])


def _by_name(model: pyo.ConcreteModel, name: str, what: str) -> Any:
    try:
        found = model.find_component(name)
    except Exception as error:
        raise BadInput(
            f"{what}: '{name}' is not a name of a variable ({error}); write it as 'block.var[*,A]'"
        ) from None
    if found is None:
        known = [component.name for component in model.component_objects(pyo.Var)]
        raise BadInput(f"{what}: the model has no '{name}'; {suggestion(name.partition('[')[0], known)}")
    return found


def _by_function(model: pyo.ConcreteModel, function: Any, what: str) -> Any:
    try:
        return function(model)
    except Exception as error:
        raise BadInput(f"{what}: its function of the model failed: {type(error).__name__}: {error}") from error
