"""Forbidden regions on paper: walls, boxes, circles and polygons over the first two coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.regions.regions import Box, Circle, Polygon, Wall

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AREA: dict[str, Any] = {"facecolor": "0.85", "edgecolor": "black", "hatch": "///", "linewidth": 1.0, "zorder": 0}


def draw_region(ax: Axes, region: Any, coordinates: Sequence[Coordinate]) -> None:
    """Draw the outline of a region; one that has none in the plane of the picture is left out."""
    outline = _outline(region, coordinates)
    if outline is None:
        return
    if len(outline) == 2:
        ax.plot(*outline.T, color="black", linewidth=3.5, solid_capstyle="round", zorder=3)
    else:
        ax.fill(*outline.T, **AREA)


def _outline(region: Any, coordinates: Sequence[Coordinate]) -> Array | None:
    """Corners over the first two coordinates, in engineering units; two for a wall, None where there is no outline."""
    plane = [coordinate.name for coordinate in coordinates[:2]]
    if len(plane) < 2:
        return None
    if isinstance(region, (Wall, Polygon)) and sorted(region.over) == sorted(plane):
        corners = (region.start, region.end) if isinstance(region, Wall) else region.corners
        order = [region.over.index(name) for name in plane]
        return np.array(corners, dtype=float)[:, order]
    if isinstance(region, Box) and set(region.ranges) <= set(plane):
        ranges = [region.ranges.get(c.name, (c.lower, c.upper)) for c in coordinates[:2]]
        (x0, x1), (y0, y1) = ([c.value_of(v) for v in r] for c, r in zip(coordinates[:2], ranges, strict=True))
        return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    if isinstance(region, Circle) and set(region.center) == set(plane):
        axes, center, radius = region.numbers(coordinates)
        angle = np.linspace(0.0, 2.0 * np.pi, 73)
        ring = center + radius * np.column_stack([np.cos(angle), np.sin(angle)])
        return ring[:, np.argsort(axes)]
    return None
