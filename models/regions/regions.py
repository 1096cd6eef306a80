"""Regions of the search space: boxes, circles, polygons, walls and single points, in engineering units.

A region answers two questions about many points at once: which points lie inside, and which straight moves touch it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, TypeVar

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index, point_from_mapping

Pair = tuple[float, float]
Numbers = TypeVar("Numbers")


def read_once(method: Callable[[Any, Sequence[Coordinate]], Numbers]) -> Callable[[Any, Sequence[Coordinate]], Numbers]:
    """A method that reads names and quantities of a region as plain numbers: once for each set of axes, then by heart.

    A search asks a region many thousand times, mostly about a few points.
    """

    @wraps(method)
    def known(region: Any, coordinates: Sequence[Coordinate]) -> Numbers:
        kept, axes = vars(region).setdefault(f"_{method.__name__}", {}), tuple(coordinates)
        if axes not in kept:
            kept[axes] = method(region, coordinates)
        numbers: Numbers = kept[axes]
        return numbers

    return known


class Region(Protocol):
    """A set of points. A class derived from it needs only `crossed_by`: a point is a move that stays where it is."""

    def contains(self, coordinates: Sequence[Coordinate], points: Array) -> Mask:
        """Which of the n x d points lie inside."""
        return self.crossed_by(coordinates, points, points)

    def crossed_by(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Mask:
        """Which of the n straight moves touch the region."""


@dataclass(frozen=True)
class Box(Region):
    """Points with lower <= x <= upper for each coordinate named: `Box({"temperature": (80, 120)})`."""

    ranges: Mapping[str, tuple[Any, Any]]

    def crossed_by(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Mask:
        """Clip each segment against every range in turn; what is left of it touches the box."""
        enter, leave = np.zeros(len(left)), np.ones(len(left))
        for axis, bounds in self.bounds(coordinates):
            start, change = left[:, axis], right[:, axis] - left[:, axis]
            still = change == 0
            with np.errstate(divide="ignore", invalid="ignore"):
                times = np.sort([(bound - start) / change for bound in bounds], axis=0)
            inside = (start >= bounds[0]) & (start <= bounds[1])
            times[0] = np.where(still, np.where(inside, 0.0, np.inf), times[0])
            times[1] = np.where(still, np.where(inside, 1.0, -np.inf), times[1])
            enter, leave = np.maximum(enter, times[0]), np.minimum(leave, times[1])
        return enter <= leave

    @read_once
    def bounds(self, coordinates: Sequence[Coordinate]) -> list[tuple[int, Pair]]:
        """Axes and what each of them may lie between."""
        found = []
        for name, (low, high) in self.ranges.items():
            axis = coordinate_index(coordinates, name)
            bounds = coordinates[axis].value_of(low), coordinates[axis].value_of(high)
            if bounds[0] > bounds[1]:
                raise BadInput(f"box: '{name}' from {low} to {high}; give the lower bound first")
            # An edge at 0.3 holds the grid value 0.30000000000000004 too.
            slack = 1e-9 * coordinates[axis].width
            found.append((axis, (bounds[0] - slack, bounds[1] + slack)))
        return found


@dataclass(frozen=True)
class Circle(Region):
    """A disc without its edge, or an ellipse along the axes when `radius` is given per coordinate."""

    center: Mapping[str, Any]
    radius: Any

    def contains(self, coordinates: Sequence[Coordinate], points: Array) -> Mask:
        """Points nearer to the centre than the radius."""
        axes, center, radius = self.numbers(coordinates)
        return (((points[:, axes] - center) / radius) ** 2).sum(axis=1) < 1.0 - 1e-9

    def crossed_by(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Mask:
        """Segments whose nearest point to the centre lies inside, in units of the radius."""
        axes, center, radius = self.numbers(coordinates)
        start = (left[:, axes] - center) / radius
        move = (right[:, axes] - left[:, axes]) / radius
        length = np.maximum((move**2).sum(axis=1), 1e-300)
        nearest = np.clip(-(start * move).sum(axis=1) / length, 0.0, 1.0)
        return ((start + nearest[:, None] * move) ** 2).sum(axis=1) < 1.0 - 1e-9

    @read_once
    def numbers(self, coordinates: Sequence[Coordinate]) -> tuple[list[int], Array, Array]:
        """Axes, centre and radius per axis, as plain numbers."""
        axes = _axes(coordinates, self.center)
        own = [coordinates[axis] for axis in axes]
        spread = self.radius if isinstance(self.radius, Mapping) else dict.fromkeys(self.center, self.radius)
        radius = np.array([c.value_of(spread[c.name]) for c in own])
        if not (radius > 0).all():
            raise BadInput(f"circle at {dict(self.center)}: radius {self.radius!r} must be positive")
        return axes, point_from_mapping(own, self.center), radius


@dataclass(frozen=True)
class Polygon(Region):
    """A polygon over two coordinates, its outline included: `Polygon(("x", "y"), [(0, 0), (1, 0), (0, 1)])`."""

    over: tuple[str, str]
    corners: Sequence[Pair]

    def contains(self, coordinates: Sequence[Coordinate], points: Array) -> Mask:
        """Points on the outline, and those from which a ray to the right crosses it an odd number of times."""
        x, y = points[:, _axes(coordinates, self.over)].T
        inside, outline = np.zeros((2, len(points)), dtype=bool)
        for (x0, y0), (x1, y1) in self.edges():
            outline |= Wall(self.over, (x0, y0), (x1, y1)).contains(coordinates, points)
            if y0 != y1:
                spans = (y0 > y) != (y1 > y)
                inside ^= spans & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        return inside | outline

    def crossed_by(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Mask:
        """Segments that start inside, end inside, or meet the outline."""
        touched = self.contains(coordinates, left) | self.contains(coordinates, right)
        for edge in self.edges():
            touched |= Wall(self.over, *edge).crossed_by(coordinates, left, right)
        return touched

    def edges(self) -> list[tuple[Pair, Pair]]:
        """The sides of the outline."""
        corners = [(float(x), float(y)) for x, y in self.corners]
        if len(corners) < 3:
            raise BadInput(f"polygon over {self.over}: needs at least 3 corners, got {len(corners)}")
        return list(zip(corners, corners[1:] + corners[:1], strict=True))


@dataclass(frozen=True)
class Wall(Region):
    """A line that may not be crossed or touched, over two coordinates: `Wall(("x", "y"), (0, 0), (1, 2))`."""

    over: tuple[str, str]
    start: Pair
    end: Pair

    def crossed_by(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Mask:
        """Segments that meet the wall: the ends of each lie on different sides of the other."""
        axes = _axes(coordinates, self.over)
        a, b = left[:, axes], right[:, axes]
        c, d = np.array(self.start, dtype=float), np.array(self.end, dtype=float)
        ends_differ = _side(c, d, a) * _side(c, d, b) <= 0
        walls_differ = _side(a, b, c) * _side(a, b, d) <= 0
        # For collinear segments every side is zero: then the bounding boxes decide.
        overlap = (np.maximum(a, b) >= np.minimum(c, d)) & (np.minimum(a, b) <= np.maximum(c, d))
        return ends_differ & walls_differ & overlap.all(axis=1)


@dataclass(frozen=True)
class Points(Region):
    """Single points: `Points([{"x": 1, "y": 2}, {"x": 2, "y": 2}])`; coordinates left out may take any value."""

    points: Sequence[Mapping[str, Any]]

    def contains(self, coordinates: Sequence[Coordinate], points: Array) -> Mask:
        """Points equal to one of those listed, to a millionth of each axis."""
        found = np.zeros(len(points), dtype=bool)
        for target in self.points:
            found |= distance_to(target, coordinates, points) <= 1e-6
        return found

    def crossed_by(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Mask:
        """Moves that leave from or arrive at one of the points."""
        return self.contains(coordinates, left) | self.contains(coordinates, right)


def distance_to(target: Mapping[str, Any], coordinates: Sequence[Coordinate], points: Array) -> Array:
    """Largest distance of each point from a target over the coordinates that it names, as a share of each axis."""
    distance = np.zeros(len(points))
    for name, value in target.items():
        axis = coordinate_index(coordinates, name)
        gap = np.abs(points[:, axis] - coordinates[axis].value_of(value)) / coordinates[axis].width
        distance = np.maximum(distance, gap)
    return distance


def _axes(coordinates: Sequence[Coordinate], names: Iterable[str]) -> list[int]:
    return [coordinate_index(coordinates, name) for name in names]


def _side(start: Array, end: Array, point: Array) -> Array:
    """Sign of the side of the line start -> end on which each point lies."""
    along, towards = end - start, point - start
    return np.sign(along[..., 0] * towards[..., 1] - along[..., 1] * towards[..., 0])
