"""Coordinates: named axes of the search space, which own the scaling between engineering units and the model.

Users read and write engineering units everywhere. The Gaussian process and the nonlinear programme see scaled values in
[-0.5, 0.5]; only this file converts between the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Array

NUMBERS = (int, float, np.integer, np.floating)


@dataclass(frozen=True)
class Coordinate:
    """One axis of the search space.

    Parameters
    ----------
    name
        The word used in constraints, tables and Pyomo component names.
    lower, upper
        Bounds in engineering units.
    unit
        A unit that `pyomo.environ.units` understands, or an empty string.
    """

    name: str
    lower: float
    upper: float
    unit: str = ""

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise BadInput(f"coordinate name {self.name!r} must be a non-empty text")
        bounds = self.lower, self.upper
        numbers = all(isinstance(bound, NUMBERS) and math.isfinite(bound) for bound in bounds)
        if not numbers or self.lower >= self.upper:
            raise BadInput(
                f"coordinate '{self.name}': lower {self.lower!r} and upper {self.upper!r} must be finite numbers, "
                "lower below upper"
            )

    @property
    def width(self) -> float:
        """Length of the axis in engineering units."""
        return self.upper - self.lower

    @property
    def title(self) -> str:
        """Name with unit, for axes and column headings."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def in_words(self, value: float) -> str:
        """`temperature 5 K`."""
        return f"{self.name} {value:.6g} {self.unit}".rstrip()

    def value_of(self, quantity: Any) -> float:
        """A plain number in this coordinate's unit, from a number or a Pyomo quantity such as `5 * units.minute`."""
        if isinstance(quantity, (bool, str)):
            raise BadInput(f"coordinate '{self.name}': {quantity!r} is not a number or a quantity with a unit")
        number = float(quantity) if isinstance(quantity, NUMBERS) else self._converted(quantity)
        if not math.isfinite(number):
            raise BadInput(f"coordinate '{self.name}': {quantity} is not a finite number")
        return number

    def _converted(self, quantity: Any) -> float:
        """Convert with Pyomo's units, which are imported only when a quantity carries one."""
        from pyomo.environ import units, value

        try:
            target = getattr(units, self.unit) if self.unit else units.dimensionless
            return float(value(units.convert(quantity, to_units=target)))
        except Exception as error:
            wanted = self.unit or "a plain number"
            raise BadInput(f"coordinate '{self.name}': {quantity} does not convert to {wanted} ({error})") from error


def coordinate_index(coordinates: Sequence[Coordinate], name: str) -> int:
    """Position of the coordinate called `name`."""
    for position, coordinate in enumerate(coordinates):
        if coordinate.name == name:
            return position
    raise BadInput(f"unknown coordinate '{name}'; {suggestion(str(name), [c.name for c in coordinates])}")


def scaled(coordinates: Sequence[Coordinate], points: ArrayLike) -> Array:
    """Points in engineering units (rows) as points of [-0.5, 0.5]^d."""
    lower, width = _lower_and_width(coordinates)
    return (np.asarray(points, dtype=float) - lower) / width - 0.5


def physical(coordinates: Sequence[Coordinate], points: ArrayLike) -> Array:
    """Points of [-0.5, 0.5]^d (rows) in engineering units."""
    lower, width = _lower_and_width(coordinates)
    return lower + (np.asarray(points, dtype=float) + 0.5) * width


def in_engineering_units(coordinates: Sequence[Coordinate], point: ArrayLike) -> dict[str, float]:
    """One scaled point as `{name: value}`.

    Twelve digits: scaling there and back would otherwise show as 0.9999999999999998.
    """
    values = physical(coordinates, np.asarray(point))
    return {c.name: float(f"{v:.12g}") for c, v in zip(coordinates, values, strict=True)}


def point_from_mapping(coordinates: Sequence[Coordinate], values: Mapping[str, Any]) -> Array:
    """One point in engineering units from `{name: value}`; every coordinate must be given once."""
    names = [c.name for c in coordinates]
    for name in values:
        coordinate_index(coordinates, name)
    missing = [name for name in names if name not in values]
    if missing:
        raise BadInput(f"missing coordinate(s) {', '.join(missing)}; give all of: {', '.join(names)}")
    return np.array([c.value_of(values[c.name]) for c in coordinates])


def _lower_and_width(coordinates: Sequence[Coordinate]) -> tuple[Array, Array]:
    return np.array([c.lower for c in coordinates]), np.array([c.width for c in coordinates])
