"""Regions as plain data and back, in the form that a settings file has them: `{"circle": {"center": ..., "radius": ...}}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import NUMBERS, Coordinate, coordinate_index
from tcbo_pyomo.models.regions.regions import Box, Circle, Points, Polygon, Region, Wall

REGIONS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in (Box, Circle, Points, Polygon, Wall)}


def region_data(region: Any, coordinates: Sequence[Coordinate]) -> dict[str, Any] | None:
    """A region of ours as plain data, quantities as numbers in the units of the coordinates; None for any other."""
    name = type(region).__name__.lower()
    if type(region) is not REGIONS.get(name):
        return None
    own = {field.name: getattr(region, field.name) for field in fields(region)}
    if isinstance(region, Circle) and not isinstance(region.radius, (Mapping, *NUMBERS)):
        # One radius with a unit for all axes.
        own["radius"] = dict.fromkeys(region.center, region.radius)
    return {name: {key: _plain(value, coordinates) for key, value in own.items()}}


def region_from(data: Mapping[str, Any]) -> Region:
    """The region that plain data describe."""
    if len(data) != 1 or next(iter(data)) not in REGIONS:
        raise BadInput(f"region {data!r}: give one kind with its fields; known: {', '.join(sorted(REGIONS))}")
    kind, given = next(iter(data.items()))
    region: Region = REGIONS[kind](**{key: _tuples(value) for key, value in given.items()})
    return region


def _plain(value: Any, coordinates: Sequence[Coordinate], axis: str = "") -> Any:
    """Numbers, texts, lists and mappings; the keys of a mapping are coordinates."""
    if isinstance(value, Mapping):
        return {str(name): _plain(inner, coordinates, str(name)) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, coordinates, axis) for inner in value]
    if isinstance(value, NUMBERS) and not isinstance(value, bool):
        return value if isinstance(value, (int, float)) else value.item()
    return value if isinstance(value, str) else coordinates[coordinate_index(coordinates, axis)].value_of(value)


def _tuples(value: Any) -> Any:
    """JSON has lists where regions have tuples."""
    if isinstance(value, list):
        return tuple(_tuples(inner) for inner in value)
    return {name: _tuples(inner) for name, inner in value.items()} if isinstance(value, Mapping) else value
