"""Values of limits as people write them: a number, or a quantity with a unit such as 8K."""

from __future__ import annotations

import re
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import NUMBERS, Coordinate

_QUANTITY = re.compile(r"\s*(?P<number>[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)\s*(?P<unit>[A-Za-z%].*)?")
DIFFERENCES = {"degC": "delta_degC", "celsius": "delta_degC", "degF": "delta_degF", "fahrenheit": "delta_degF"}
"""Units with an offset, and those of their differences."""


def quantity(name: str, value: Any, step_of: Coordinate | None = None) -> Any:
    """A number, or a Pyomo quantity from a text such as "8 K" or "8K"; a step of `step_of` in degrees as a number."""
    if isinstance(value, NUMBERS) and not isinstance(value, bool):
        return float(value)
    match = _QUANTITY.fullmatch(str(value)) if isinstance(value, str) else None
    if match is None:
        raise BadInput(f"limit '{name}' = {value!r} must be a number, with a unit if it has one, as in 8K")
    number = float(match["number"])
    if match["unit"] is None:
        return number
    unit = match["unit"].strip()
    # A step of 8 K is one of 8 degrees Celsius, although 8 K is no temperature of 8 degrees.
    own = None if step_of is None else step_of.unit
    difference = DIFFERENCES.get(own or "")
    if difference is not None and unit == own:
        return number
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
