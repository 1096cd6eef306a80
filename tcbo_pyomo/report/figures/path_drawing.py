"""Paths on paper, and the landscape below them (the paper's figure of the Knorr experiment)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.problem.landscape import Landscape
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.report.figures.canvas import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet

# Paul Tol's "muted" scheme, made for all common kinds of colour blindness; without its pale yellow.
EPISODE_COLOURS = ("#332288", "#CC6677", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499")
CANDIDATE_COLOUR = "#E69F00"
LINE_STYLES = ("solid", (0, (4, 1.5)), (0, (1, 1)))
# Lines that share places are drawn side by side along this direction, which is parallel to no move on a grid. All of them stay
# within the circle around a visited place: no line is further than its radius from the values it stands for.
SIDE_BY_SIDE = np.array([np.cos(np.radians(112.5)), np.sin(np.radians(112.5))])
CIRCLE_POINTS = 8.0
LINES_NOTE = "circles mark the places visited; lines run side by side inside them"


def plane(places: Array) -> Array:
    """n x d places on paper, n x 2: their first two coordinates."""
    return places[:, :2] if places.shape[1] > 1 else np.pad(places, ((0, 0), (0, 1)))


def draw_landscape(ax: Axes, landscape: Landscape) -> ContourSet | None:
    """States as dots over filled contours, returned for a colour bar; None where there is no truth over a plane."""
    points = plane(landscape.places)
    contours = None
    spans_a_plane = landscape.places.shape[1] == 2 and np.linalg.matrix_rank(points - points[0]) == 2
    if landscape.truth is not None and spans_a_plane:
        contours = draw_contours(ax, points, landscape.truth)
    if landscape.only_places:
        ax.scatter(points[:, 0], points[:, 1], s=9, color="0.35", linewidths=0, zorder=2, label="states")
    return contours


def draw_contours(ax: Axes, points: Array, values: Array) -> ContourSet:
    """White to grey, which leaves the colours to the paths."""
    from matplotlib.colors import LinearSegmentedColormap

    pale = LinearSegmentedColormap.from_list("pale", ["1.0", "0.55"])
    style: dict[str, Any] = {"levels": 14, "cmap": pale, "zorder": 0}
    first, second = (np.unique(column) for column in points.T)
    if len(first) * len(second) == len(points):
        order = np.lexsort((points[:, 1], points[:, 0]))
        return ax.contourf(first, second, values[order].reshape(len(first), len(second)).T, **style)
    return ax.tricontourf(points[:, 0], points[:, 1], values, **style)


def truth_title(problem: ProblemProtocol) -> str:
    """What the contours show, with its unit."""
    unit = f" ({problem.output_unit})" if problem.output_unit else ""
    return f"true {problem.output_title or problem.output}{unit}"


def draw_walk(ax: Axes, place: Array, name: str, alpha: float = 1.0) -> None:
    """A path from its places (k x 2); the colour of its dots tells early from late, `alpha` is that of the line."""
    x, y = place.T
    ax.plot(x, y, color="0.25", linewidth=0.9, alpha=alpha, zorder=2)
    ax.scatter(x, y, c=np.arange(len(place)), cmap="viridis", s=14, zorder=3, label=f"{name} (dark to light)")


def draw_paths(ax: Axes, paths: Sequence[Array]) -> None:
    """One line per episode from its places (k x 2): circles around the places, lines side by side within them."""
    from matplotlib import colormaps

    number = len(paths)
    palette = len(EPISODE_COLOURS)
    many = number > palette * len(LINE_STYLES)
    for index, path in enumerate(paths):
        colour = colormaps["cividis"](index / number) if many else EPISODE_COLOURS[index % palette]
        ax.plot(
            *path.T,
            color=colour,
            linestyle="solid" if many else LINE_STYLES[index % len(LINE_STYLES)],
            linewidth=1.2,
            zorder=3,
            label=f"episode {index + 1}" if not many or index in (0, number - 1) else None,
            transform=_beside(ax, (index - (number - 1) / 2) / max(number, 1)),
        )
    if paths:
        across, up = np.unique(np.concatenate(paths), axis=0).T
        ax.scatter(across, up, s=CIRCLE_POINTS**2, facecolors="none", edgecolors="0.25", linewidths=0.6, zorder=3.5)


def _beside(ax: Axes, share: float) -> Any:
    """The axes' own transformation, moved on paper by a share of a circle: one half is its rim."""
    from matplotlib.transforms import ScaledTranslation

    across, up = share * CIRCLE_POINTS / 72.0 * SIDE_BY_SIDE
    return ax.transData + ScaledTranslation(across, up, figure_of(ax).dpi_scale_trans)
