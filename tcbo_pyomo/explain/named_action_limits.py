"""Limits of the actions of a continuous plant by name: `action_limit.set_point.upper`, `action_limit.maximum` of a norm."""

from __future__ import annotations

import dataclasses
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.explain.limit_values import quantity
from tcbo_pyomo.plant.actions import BoxActions, NormActions

ACTIONS, SIDES = "action_limit", ("lower", "upper")


def named_action_limits(problem: Any) -> dict[str, float]:
    """{name: present value} of the limits of the actions; nothing for a finite process."""
    actions = None if problem.finite else problem.dynamics.actions
    if isinstance(actions, NormActions):
        return {f"{ACTIONS}.maximum": float(actions.maximum)}
    if not isinstance(actions, BoxActions):
        return {}
    sides = zip(actions.names or (), *actions.bounds(), strict=True)
    return {f"{ACTIONS}.{n}.{side}": float(v) for n, *pair in sides for side, v in zip(SIDES, pair, strict=True)}


def changed_actions(problem: Any, name: str, value: Any) -> tuple[Any, float, float]:
    """A continuous problem with one limit of its actions changed."""
    before, new = named_action_limits(problem), quantity(name, value)
    if not isinstance(new, float):
        raise BadInput(f"limit '{name}' = {value!r} must be a plain number: actions carry no unit")
    after, actions = {**before, name: new}, problem.dynamics.actions
    if isinstance(actions, BoxActions):
        sides = {n: tuple(after[f"{ACTIONS}.{n}.{side}"] for side in SIDES) for n in actions.names or ()}
        changed: Any = dataclasses.replace(actions, limits=sides)
    else:
        changed = dataclasses.replace(actions, maximum=new)
    return problem.changed(dynamics=dataclasses.replace(problem.dynamics, actions=changed)), before[name], new
