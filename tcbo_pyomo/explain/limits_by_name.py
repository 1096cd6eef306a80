"""Limits of a plant by name, as in `maximum_step.temperature=8K`, read from the constraints' own parameters.

A name starts with the constraint: the file name of its class (`maximum_step`, `end_at`), or `fuel_budget` for the budget
of the resource "fuel"; a second constraint of the same name is `maximum_step_2`. The parameter follows, and for
parameters by coordinate the coordinate: `maximum_step.limits.temperature`. A parameter that is the constraint's only
one is left out: `maximum_step.temperature`, `fuel_budget`. `horizon` is the number of moves per episode. The limits of the
actions of a continuous plant are `action_limit.set_point.upper` (and `.lower`), or `action_limit.maximum` of their norm.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, TypeVar

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.coordinates import NUMBERS, Coordinate
from tcbo_pyomo.foundation.unit_text import readable_unit
from tcbo_pyomo.plant.actions import ActionLimits, BoxActions, NormActions
from tcbo_pyomo.problem.protocol import ProblemProtocol

HORIZON = "horizon"
ACTIONS, SIDES = "action_limit", ("lower", "upper")
DIFFERENCES = {"degC": "delta_degC", "celsius": "delta_degC", "degF": "delta_degF", "fahrenheit": "delta_degF"}
"""Units with an offset, and those of their differences."""
LONGEST_QUANTITY = 100
LONGEST_HORIZON = 10_000
_QUANTITY = re.compile(r"\s*(?P<number>[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)\s*(?P<unit>[A-Za-z%].*)?")

AnyProblem = TypeVar("AnyProblem", bound=ProblemProtocol)


def named_limits(problem: ProblemProtocol) -> dict[str, tuple[int, str]]:
    """{name: (position of the constraint, its own name for the limit)}; without the horizon and the limits of actions."""
    found: dict[str, tuple[int, str]] = {}
    taken: dict[str, int] = {}
    for position, rule in enumerate(problem.rules):
        base = rule.short_name
        taken[base] = taken.get(base, 0) + 1
        base = base if taken[base] == 1 else f"{base}_{taken[base]}"
        own = list(rule.named_limits())
        single = len({name.partition(".")[0] for name in own}) == 1
        for name in own:
            shown = name.partition(".")[2] if single else name
            found[f"{base}.{shown}" if shown else base] = position, name
    return found


def limit_names(problem: ProblemProtocol) -> list[str]:
    """Everything that may be changed."""
    return [HORIZON, *named_limits(problem), *_named_action_limits(problem.action_limits)]


def changed_limit(problem: AnyProblem, name: str, value: Any) -> tuple[AnyProblem, Any, Any]:
    """The problem with one limit changed, the old value and the new one."""
    if name == HORIZON:
        new = quantity(name, value)
        if not isinstance(new, float) or not 1 <= new <= LONGEST_HORIZON or new != int(new):
            raise BadInput(f"horizon {value!r} must be a whole number from 1 to {LONGEST_HORIZON}")
        return problem.changed(horizon=int(new)), problem.horizon, int(new)
    actions = problem.action_limits
    if actions is not None and name in _named_action_limits(actions):
        return _changed_action(problem, actions, name, value)
    limits = named_limits(problem)
    if name not in limits:
        raise BadInput(f"unknown limit '{name}'; {suggestion(name, limit_names(problem))}")
    position, own = limits[name]
    rule = problem.rules[position]
    coordinate = next((c for c in problem.coordinates if c.name == own.rpartition(".")[2]), None)
    new = quantity(name, value, coordinate if rule.limits_are_steps else None)
    if own == "limit" and (not isinstance(new, float) or new < 0.0):
        raise BadInput(f"limit '{name}' = {value!r} must be a plain number that is not negative")
    rules = list(problem.rules)
    rules[position] = rule.with_limit(own, new)
    return problem.changed(constraints=tuple(rules)), rule.named_limits()[own], new


def step_of_limit(problem: ProblemProtocol, name: str) -> tuple[str, float] | None:
    """(coordinate, largest step in its unit) where a limit is one of steps; None where it is another."""
    if name not in (limits := named_limits(problem)):
        return None
    position, own = limits[name]
    rule, axis = problem.rules[position], own.rpartition(".")[2]
    coordinate = next((c for c in problem.coordinates if c.name == axis), None)
    if coordinate is None or not rule.limits_are_steps:
        return None
    value = rule.named_limits()[own]
    sides = value if isinstance(value, (tuple, list)) else (value,)
    return axis, max(coordinate.value_of(side) for side in sides)


def _named_action_limits(actions: ActionLimits | None) -> dict[str, float]:
    """{name: present value} of the limits of actions, where they are of a known kind."""
    if isinstance(actions, NormActions):
        return {f"{ACTIONS}.maximum": float(actions.maximum)}
    if not isinstance(actions, BoxActions):
        return {}
    sides = zip(actions.names or (), *actions.bounds(), strict=True)
    return {f"{ACTIONS}.{n}.{side}": float(v) for n, *pair in sides for side, v in zip(SIDES, pair, strict=True)}


def _changed_action(
    problem: AnyProblem, actions: ActionLimits, name: str, value: Any
) -> tuple[AnyProblem, float, float]:
    before, new = _named_action_limits(actions), quantity(name, value)
    if not isinstance(new, float):
        raise BadInput(f"limit '{name}' = {value!r} must be a plain number: actions have no unit")
    changed, after = actions, {**before, name: new}
    if isinstance(actions, BoxActions):
        sides = {n: tuple(after[f"{ACTIONS}.{n}.{side}"] for side in SIDES) for n in actions.names or ()}
        changed = dataclasses.replace(actions, limits=sides)
    elif isinstance(actions, NormActions):
        changed = dataclasses.replace(actions, maximum=new)
    return problem.with_action_limits(changed), before[name], new


def quantity(name: str, value: Any, step_of: Coordinate | None = None) -> Any:
    """A number, or a Pyomo quantity from a text such as "8 K" or "8K"; a step of `step_of` in degrees as a number."""
    if isinstance(value, NUMBERS) and not isinstance(value, bool):
        return float(value)
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) and len(value) <= LONGEST_QUANTITY else None
    if match is None:
        raise BadInput(f"limit '{name}' = {value!r} must be a number, with its unit if it has one, such as 8K")
    number = float(match["number"])
    if match["unit"] is None:
        return number
    unit = match["unit"].strip()
    # A step of 8 K is one of 8 degrees Celsius, although 8 K is no temperature of 8 degrees.
    own = None if step_of is None else step_of.unit
    difference = DIFFERENCES.get(own or "")
    if difference is not None and unit == own:
        return number
    readable_unit(unit, f"limit '{name}'")
    from pyomo.environ import units
    from pyomo.environ import value as number_of

    try:
        found = number * getattr(units, unit)
    except Exception:
        raise BadInput(f"limit '{name}' = {value!r}: unknown unit '{unit}'") from None
    if difference is None:
        return found
    try:
        return float(number_of(units.convert(found, to_units=getattr(units, difference))))
    except Exception:
        raise BadInput(f"limit '{name}' = {value!r} does not convert to a step in {own}") from None
