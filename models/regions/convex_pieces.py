"""Regions as unions of convex pieces {y : A y <= b} in scaled coordinates, for the trajectory model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index, scaled
from tcbo_pyomo.models.regions.regions import Box, Pair, Polygon, Region, Wall

FLAT = 1e-12
"""Twice the scaled area below which three corners count as lying on a line."""


@dataclass(frozen=True, eq=False)
class Piece:
    """{y : normals y <= offsets} over some coordinates; each row of `normals` (faces x k) has length one."""

    names: tuple[str, ...]
    normals: Array
    offsets: Array


@singledispatch
def convex_pieces(region: Region, coordinates: Sequence[Coordinate]) -> list[Piece]:
    """The pieces of a region; a region without area or of an unknown kind is refused."""
    raise BadInput(
        f"forbidden_region: {type(region).__name__} has no smooth form for a continuous plan; use Circle, Box, Polygon or "
        "Wall"
    )


@convex_pieces.register
def _(region: Box, coordinates: Sequence[Coordinate]) -> list[Piece]:
    """Two faces per coordinate named."""
    axes = [coordinates[coordinate_index(coordinates, name)] for name in region.ranges]
    lower, upper = (scaled(axes, [c.value_of(region.ranges[c.name][side]) for c in axes]) for side in (0, 1))
    if (lower > upper).any():
        return []
    faces = np.eye(len(axes))
    offsets = np.concatenate([upper, -lower])
    return [Piece(tuple(axis.name for axis in axes), np.vstack([faces, -faces]), offsets)]


@convex_pieces.register
def _(region: Wall, coordinates: Sequence[Coordinate]) -> list[Piece]:
    """A piece of no width: both sides of the line, and its two ends."""
    start, end = _plane_points(region, [region.start, region.end], coordinates)
    length = np.linalg.norm(end - start)
    along = (end - start) / length if length > 0 else np.array([1.0, 0.0])
    across = np.array([-along[1], along[0]])
    normals = np.array([across, -across, along, -along])
    offsets = np.array([across @ start, -across @ start, along @ end, -along @ start])
    return [Piece(tuple(region.over), normals, offsets)]


@convex_pieces.register
def _(region: Polygon, coordinates: Sequence[Coordinate]) -> list[Piece]:
    """The polygon itself when it is convex, else its triangles."""
    corners = _plane_points(region, [edge[0] for edge in region.edges()], coordinates)
    area = 0.5 * float(np.sum(_cross(corners, np.roll(corners, -1, axis=0))))
    if abs(area) < 1e-12:
        raise BadInput(f"polygon over {region.over}: its corners {list(region.corners)} enclose no area; use a Wall")
    if _crosses_itself(corners):
        raise BadInput(
            f"polygon over {region.over}: its outline {list(region.corners)} crosses itself; give the corners in order"
        )
    corners = corners if area > 0 else corners[::-1]
    outlines = [corners] if _is_convex(corners) else _triangles(corners)
    pieces = []
    for outline in outlines:
        sides = np.roll(outline, -1, axis=0) - outline
        outline, sides = outline[np.abs(sides).max(axis=1) > 0], sides[np.abs(sides).max(axis=1) > 0]
        normals = np.column_stack([sides[:, 1], -sides[:, 0]])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        pieces.append(Piece(tuple(region.over), normals, np.einsum("ij,ij->i", normals, outline)))
    return pieces


def _triangles(corners: Array) -> list[Array]:
    """Ear clipping: cut off a convex corner whose triangle holds no other corner, until three are left."""
    left = list(range(len(corners)))
    triangles = []
    while len(left) > 3:
        # Every simple polygon has an ear (Meisters' theorem).
        ear = next(i for i in range(len(left)) if _is_ear(corners, left, i))
        triangles.append(corners[[left[ear - 1], left[ear], left[(ear + 1) % len(left)]]])
        left.pop(ear)
    # Three corners on a line enclose nothing; as a piece they would be the whole line.
    return [triangle for triangle in [*triangles, corners[left]] if abs(_turn(triangle)) >= FLAT]


def _is_ear(corners: Array, left: list[int], i: int) -> bool:
    neighbours = left[i - 1], left[i], left[(i + 1) % len(left)]
    triangle = corners[list(neighbours)]
    others = corners[[k for k in left if k not in neighbours]]
    return abs(_turn(triangle)) < FLAT or (_turn(triangle) > 0 and not _inside(triangle, others).any())


def _turn(triangle: Array) -> float:
    """Twice the area of a triangle; positive when its corners go round counter-clockwise."""
    return float(_cross(triangle[1] - triangle[0], triangle[2] - triangle[1]))


def _inside(triangle: Array, points: Array) -> Mask:
    """Which points lie in a triangle (counter-clockwise), its edge included."""
    sides = np.roll(triangle, -1, axis=0) - triangle
    inside: Mask = np.all(_cross(sides, points[:, None] - triangle) >= 0, axis=1)
    return inside


def _crosses_itself(corners: Array) -> bool:
    """Whether two sides that are not neighbours meet."""
    number = len(corners)
    ends = np.roll(corners, -1, axis=0)
    for i in range(number):
        for j in range(i + 2, number - (i == 0)):
            along, other = ends[i] - corners[i], ends[j] - corners[j]
            sides = _cross(along, corners[j] - corners[i]) * _cross(along, ends[j] - corners[i])
            if sides < 0 and _cross(other, corners[i] - corners[j]) * _cross(other, ends[i] - corners[j]) < 0:
                return True
    return False


def _is_convex(corners: Array) -> bool:
    """Whether a simple outline, counter-clockwise, turns left at every corner."""
    sides = np.roll(corners, -1, axis=0) - corners
    return bool((_cross(sides, np.roll(sides, -1, axis=0)) >= -1e-14).all())


def _cross(left: Array, right: Array) -> Array:
    return left[..., 0] * right[..., 1] - left[..., 1] * right[..., 0]


def _plane_points(region: Polygon | Wall, points: Sequence[Pair], coordinates: Sequence[Coordinate]) -> Array:
    """Points of the plane of a region, scaled."""
    axes = [coordinates[coordinate_index(coordinates, name)] for name in region.over]
    return scaled(axes, points)
