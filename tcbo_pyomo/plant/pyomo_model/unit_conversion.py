"""Between the unit a coordinate is written in and the unit of the model's variable: model = factor * written + offset."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyomo.environ as pyo

from tcbo_pyomo.errors import BadInput


class Conversion(NamedTuple):
    """model value = factor * written value + offset; temperatures in degrees Celsius have an offset."""

    unit: str
    factor: float = 1.0
    offset: float = 0.0

    def to_model(self, written: Any) -> Any:
        """A number or Pyomo expression in the model's unit."""
        return written if (self.factor, self.offset) == (1.0, 0.0) else self.factor * written + self.offset

    def from_model(self, value: Any) -> Any:
        """A number or Pyomo expression in the unit the coordinate is written in."""
        return value if (self.factor, self.offset) == (1.0, 0.0) else (value - self.offset) / self.factor


def conversion(what: str, unit: str, variable: Any) -> Conversion:
    """How `unit` converts to the unit of a variable; a variable without units takes numbers as they are."""
    own = pyo.units.get_units(variable)
    if own is None or str(own) == "dimensionless":
        return Conversion(unit)
    if not unit:
        return Conversion(str(own))
    registry = pyo.units.pint_registry
    try:
        zero, one = (float(registry.Quantity(number, unit).to(str(own)).magnitude) for number in (0.0, 1.0))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise BadInput(
            f"{what}: unit '{unit}' does not convert to {own}, the unit of '{variable.name}' ({reason}); use one that does"
        ) from None
    return Conversion(unit, one - zero, zero)
