"""Limits of a plant by name, as in `maximum_step.temperature=8K`, read from the constraints' own parameters.

A name starts with the constraint: the file name of its class (`maximum_step`, `end_at`), or `fuel_budget` for the budget
of the resource "fuel"; a second constraint of the same name is `maximum_step_2`. The parameter follows, and for
parameters by coordinate the coordinate: `maximum_step.limits.temperature`. A parameter that is the constraint's only
one is left out: `maximum_step.temperature`, `fuel_budget`. `horizon` is the number of moves per episode. The limits of the
actions of a continuous plant are `action_limit.set_point.upper` (and `.lower`), or `action_limit.maximum` of their norm.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.explain.limit_values import quantity
from tcbo_pyomo.explain.named_action_limits import changed_actions, named_action_limits
from tcbo_pyomo.foundation.coordinates import NUMBERS
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint

HORIZON = "horizon"
SYNONYMS = {"move_limit": "maximum_step"}

Path = tuple[str, ...]
"""Attribute of a constraint, then keys inside it."""


def named_limits(problem: Any) -> dict[str, tuple[int, Path]]:
    """{name: (position of the constraint, path to the number)}; without the horizon and the limits of actions."""
    found: dict[str, tuple[int, Path]] = {}
    taken: dict[str, int] = {}
    for position, rule in enumerate(problem.rules):
        base = _base_name(rule)
        taken[base] = taken.get(base, 0) + 1
        base = base if taken[base] == 1 else f"{base}_{taken[base]}"
        paths = list(_numbers_in(rule))
        single = len({path[0] for path in paths}) == 1
        for path in paths:
            found[".".join((base, *(path[1:] if single else path)))] = position, path
    return found


def limit_names(problem: Any) -> list[str]:
    """Everything that may be changed."""
    return [HORIZON, *named_limits(problem), *named_action_limits(problem)]


def changed_limit(problem: Any, name: str, value: Any) -> tuple[Any, Any, Any]:
    """The problem with one limit changed, the old value and the new one."""
    first, _, rest = name.partition(".")
    name = ".".join(filter(None, (SYNONYMS.get(first, first), rest)))
    if name == HORIZON:
        new = quantity(name, value)
        if not isinstance(new, float) or new != int(new) or new < 1:
            raise BadInput(f"horizon {value!r} must be a whole number of at least 1")
        return problem.changed(horizon=int(new)), problem.horizon, int(new)
    if name in named_action_limits(problem):
        return changed_actions(problem, name, value)
    limits = named_limits(problem)
    if name not in limits:
        raise BadInput(f"unknown limit '{name}'; {suggestion(name, limit_names(problem))}")
    position, path = limits[name]
    rule = problem.rules[position]
    coordinate = next((c for c in problem.coordinates if c.name == path[-1]), None)
    new = quantity(name, value, coordinate if isinstance(rule, MaximumStep) else None)
    if path == ("limit",) and (not isinstance(new, float) or new < 0.0):
        raise BadInput(f"limit '{name}' = {value!r} must be a plain number that is not negative")
    rules = list(problem.rules)
    rules[position] = _with(rule, path, new)
    return problem.changed(constraints=tuple(rules)), _get(rule, path), new


def _base_name(rule: TransitionConstraint) -> str:
    label = getattr(rule, "resource", getattr(rule, "label", None))
    if rule.couples_steps and isinstance(label, str):
        return f"{label}_budget"
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(rule).__name__).lower()


def _numbers_in(holder: Any) -> Iterator[Path]:
    """Paths to all numbers of a constraint: attributes, and entries of mappings and dataclasses inside them."""
    for name, inner in _entries(holder):
        if _is_limit(inner):
            yield (name,)
        elif isinstance(inner, Mapping) or dataclasses.is_dataclass(inner):
            yield from ((name, *path) for path in _numbers_in(inner))


def _entries(holder: Any) -> list[tuple[str, Any]]:
    entries = holder.items() if isinstance(holder, Mapping) else vars(holder).items()
    return [(name, inner) for name, inner in entries if isinstance(name, str) and not name.startswith("_")]


def _is_limit(value: Any) -> bool:
    """A number, a quantity with a unit, or a pair of them (down, up)."""
    if isinstance(value, (tuple, list)):
        return len(value) == 2 and all(_is_limit(part) and not isinstance(part, (tuple, list)) for part in value)
    return (isinstance(value, NUMBERS) and not isinstance(value, bool)) or hasattr(value, "is_expression_type")


def _get(holder: Any, path: Path) -> Any:
    for name in path:
        holder = holder[name] if isinstance(holder, Mapping) else getattr(holder, name)
    return holder


def _with(holder: Any, path: Path, value: Any) -> Any:
    """A copy of a constraint, mapping or dataclass with one number changed."""
    inner = value if len(path) == 1 else _with(_get(holder, path[:1]), path[1:], value)
    if isinstance(holder, Mapping):
        return {**holder, path[0]: inner}
    if dataclasses.is_dataclass(holder) and not isinstance(holder, type):
        return dataclasses.replace(holder, **{path[0]: inner})
    changed = copy.copy(holder)
    setattr(changed, path[0], inner)
    return changed
