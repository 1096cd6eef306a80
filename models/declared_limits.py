"""What each rule of a plant allows, in words and units, for tables that people read."""

from __future__ import annotations

from collections.abc import Sequence

from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.constraints.non_decreasing import NonDecreasing
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint


def declared_limit(rule: TransitionConstraint, coordinates: Sequence[Coordinate]) -> str:
    """The limit of a rule as one short text; its name where nothing more is known about it."""
    if isinstance(rule, MaximumStep):
        limits = step_limits(rule, coordinates)
        return "; ".join(f"{c.name} {-down:g} to {up:+g} {c.unit}".rstrip() for c, down, up in limits) + " per move"
    if isinstance(rule, NonDecreasing):
        title = coordinates[coordinate_index(coordinates, rule.coordinate)].name
        return f"{title} may not {'fall' if rule.direction > 0 else 'rise'}"
    if isinstance(rule, EndAt):
        ends = ((coordinates[coordinate_index(coordinates, name)], value) for name, value in rule.point.items())
        return "end at " + ", ".join(in_units(c, c.value_of(value)) for c, value in ends)
    if isinstance(rule, ForbiddenRegion):
        return f"{'stay' if rule.crossing else 'keep'} out of {rule.region}"
    limit = getattr(rule, "limit", None)
    return f"at most {limit:g} per episode" if rule.couples_steps and isinstance(limit, (int, float)) else rule.name


def step_limits(rule: MaximumStep, coordinates: Sequence[Coordinate]) -> list[tuple[Coordinate, float, float]]:
    """(coordinate, largest fall, largest rise) of a maximum step, in the coordinate's unit."""
    found = []
    for name, limit in rule.limits.items():
        coordinate = coordinates[coordinate_index(coordinates, name)]
        down, up = limit if isinstance(limit, (tuple, list)) else (limit, limit)
        found.append((coordinate, coordinate.value_of(down), coordinate.value_of(up)))
    return found


def in_units(coordinate: Coordinate, value: float) -> str:
    """`temperature 5 K`."""
    return f"{coordinate.name} {value:.6g} {coordinate.unit}".rstrip()
