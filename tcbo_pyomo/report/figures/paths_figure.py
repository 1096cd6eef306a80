"""The paths of a campaign over the contours of the black box (the paper's figure of the Knorr experiment)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.process import Process

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure

    from tcbo_pyomo.campaign.simulation import CampaignResult
    from tcbo_pyomo.problem.continuous import ContinuousProblem
    from tcbo_pyomo.problem.finite import Problem

# Paul Tol's "muted" scheme, made for all common kinds of colour blindness; without its pale yellow.
EPISODE_COLOURS = ("#332288", "#CC6677", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499")
LINE_STYLES = ("solid", (0, (4, 1.5)), (0, (1, 1)))
CANDIDATE_COLOUR = "#E69F00"
# Paths are shifted a little along this direction, which is parallel to no move on a grid: all stay visible.
SHIFT_DIRECTION = np.array([np.cos(np.radians(112.5)), np.sin(np.radians(112.5))])


def paths_figure(result: CampaignResult, ax: Axes | None = None) -> Figure:
    """Draw all episodes, the remaining candidates, the recommendation and, where it is known, the truth.

    Parameters
    ----------
    result
        A finished campaign.
    ax
        Axes to draw on; a new figure when not given.

    Returns
    -------
    Figure
        The figure that holds the axes.
    """
    from matplotlib.figure import Figure

    legend: dict[str, Any] = {"ncols": 5, "fontsize": 8, "labelspacing": 0.9, "frameon": False}
    if ax is not None:
        _draw(ax, result)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), **legend)
        return ax.figure if isinstance(ax.figure, Figure) else ax.figure.figure
    figure = Figure(figsize=(7.2, 5.8), layout="constrained")
    _draw(figure.subplots(), result)
    figure.legend(loc="outside lower center", **legend)
    return figure


def _draw(ax: Axes, result: CampaignResult) -> None:
    """Everything but the legend, from the bottom layer to the top one."""
    points = plane(result.problem.process)
    contours = draw_truth(ax, result.problem, points)
    if contours is not None:
        ax.figure.colorbar(contours, ax=ax, label=truth_title(result.problem), pad=0.02)
    draw_states(ax, points)
    draw_paths(ax, [points[path] for path in result.paths], points)
    _draw_marks(ax, result, points)
    _describe(ax, result)


def plane(process: Process) -> Array:
    """n x 2 places of the states on paper: their first two coordinates."""
    states = process.states[:, :2]
    return states if states.shape[1] == 2 else np.column_stack([states, np.zeros(len(states))])


def draw_truth(ax: Axes, problem: Problem, points: Array) -> ContourSet | None:
    """Filled contours, for a colour bar; None where the truth is unknown or the states span no plane."""
    truth = problem.truth
    flat = len(points) < 3 or np.linalg.matrix_rank(points - points[0]) < 2
    if truth is None or flat or len(problem.process.coordinates) != 2:
        return None
    first, second = (np.unique(column) for column in points.T)
    style: dict[str, Any] = {"levels": 14, "cmap": pale_colours(), "zorder": 0}
    if len(first) * len(second) == len(points):
        order = np.lexsort((points[:, 1], points[:, 0]))
        return ax.contourf(first, second, truth[order].reshape(len(first), len(second)).T, **style)
    return ax.tricontourf(points[:, 0], points[:, 1], truth, **style)


def pale_colours() -> Colormap:
    """White to grey: a landscape that leaves the colours to the paths on it."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("pale", ["1.0", "0.55"])


def truth_title(problem: Problem | ContinuousProblem) -> str:
    """What the contours show, with its unit."""
    unit = f" ({problem.output_unit})" if problem.output_unit else ""
    return f"true {problem.output_title or problem.output}{unit}"


def draw_states(ax: Axes, points: Array) -> None:
    """The states as dots."""
    ax.scatter(points[:, 0], points[:, 1], s=9, color="0.35", linewidths=0, zorder=2, label="states")


def draw_paths(ax: Axes, paths: Sequence[Array], points: Array) -> None:
    """One line per episode from its places (k x 2), shifted a little; `points` are the places of all states."""
    from matplotlib import colormaps

    number = len(paths)
    palette = len(EPISODE_COLOURS)
    many = number > palette * len(LINE_STYLES)
    for index, path in enumerate(paths):
        place = path + (index - (number - 1) / 2) * _shift(points, number)
        ax.plot(
            *place.T,
            color=colormaps["cividis"](index / number) if many else EPISODE_COLOURS[index % palette],
            linestyle="solid" if many else LINE_STYLES[index // palette],
            linewidth=1.4,
            marker="o",
            markersize=2.6,
            zorder=3,
            label=f"episode {index + 1}" if not many or index in (0, number - 1) else None,
        )


def _shift(points: Array, number: int) -> Array:
    """The shift from one path to the next: all of them together stay well within a cell."""
    from scipy.spatial import KDTree

    extent = np.ptp(points, axis=0)
    extent[extent == 0] = 1.0
    places = np.unique(((points - points[0]) / extent).round(9), axis=0)
    apart, _ = KDTree(places).query(places, k=2)
    cell = min(float(np.asarray(apart)[:, 1].min()), 1.0)
    return 0.7 * cell / max(number - 1, 1) * SHIFT_DIRECTION * extent


def _draw_marks(ax: Axes, result: CampaignResult, points: Array) -> None:
    """Start, remaining candidates, recommendation and, where it is known, the maximum."""
    problem = result.problem
    recommended = problem.process.state_index(result.episodes[-1].recommendation)

    def mark(states: list[int], label: str, **style: Any) -> None:
        ax.scatter(points[states, 0], points[states, 1], label=label, **style)

    ring = {"facecolors": "none", "edgecolors": "black", "zorder": 5}
    mark([problem.start_state], "start", marker="s", s=60, linewidths=1.3, **ring)
    filled = {"color": CANDIDATE_COLOUR, "edgecolors": "black", "zorder": 4}
    mark(result.candidate_states, "remaining candidates", s=75, linewidths=0.9, **filled)
    mark([recommended], "recommendation", s=230, linewidths=1.6, **ring)
    if problem.truth is not None:
        mark([problem.best_state], "true maximum", marker="*", s=90, color="black", linewidths=0, zorder=6)


def _describe(ax: Axes, result: CampaignResult) -> None:
    coordinates = result.problem.process.coordinates
    ax.set_xlabel(coordinates[0].title.replace("_", " "))
    if len(coordinates) > 1:
        ax.set_ylabel(coordinates[1].title.replace("_", " "))
    else:
        ax.set_yticks([])
    shown = "" if len(coordinates) <= 2 else f" (first 2 of {len(coordinates)} coordinates)"
    ax.set_title(f"{result.problem.name}: {result.method}, seed {result.seed}{shown}", fontsize=11)
    ax.use_sticky_edges = False
    ax.margins(0.05)
    ax.spines[["top", "right"]].set_visible(False)
