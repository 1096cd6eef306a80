"""Numbers inside an object by name: its attributes, and entries of mappings and dataclasses inside them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from tcbo_pyomo.foundation.coordinates import NUMBERS

Place = tuple[str, ...]
"""Attribute of an object, then keys inside it."""


def numbers_in(holder: Any) -> Iterator[tuple[Place, Any]]:
    """(place, value) of every number, quantity with a unit, or pair of them (down, up)."""
    entries = holder.items() if isinstance(holder, Mapping) else vars(holder).items()
    for name, inner in entries:
        if not isinstance(name, str) or name.startswith("_"):
            continue
        if _is_limit(inner):
            yield (name,), inner
        elif isinstance(inner, Mapping) or dataclasses.is_dataclass(inner):
            yield from (((name, *place), value) for place, value in numbers_in(inner))


def with_number(holder: Any, place: Place, value: Any) -> Any:
    """A copy of an object, mapping or dataclass with one number changed."""
    here = holder[place[0]] if isinstance(holder, Mapping) else getattr(holder, place[0])
    inner = value if len(place) == 1 else with_number(here, place[1:], value)
    if isinstance(holder, Mapping):
        return {**holder, place[0]: inner}
    if dataclasses.is_dataclass(holder) and not isinstance(holder, type):
        return dataclasses.replace(holder, **{place[0]: inner})
    changed = copy.copy(holder)
    setattr(changed, place[0], inner)
    return changed


def _is_limit(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) == 2 and all(_is_limit(part) and not isinstance(part, (tuple, list)) for part in value)
    return (isinstance(value, NUMBERS) and not isinstance(value, bool)) or hasattr(value, "is_expression_type")
