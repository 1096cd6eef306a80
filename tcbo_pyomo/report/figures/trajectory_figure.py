"""The path of a campaign on a continuous plant, over the posterior mean (section 5.4)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tcbo_pyomo.campaign.simulation import CampaignResult

CELLS = 161
CANDIDATE_COLOUR = "#E69F00"


def trajectory_figure(result: CampaignResult) -> Figure:
    """Path, candidates and recommendation over the posterior mean, one panel per pair of coordinates.

    With more than two coordinates each panel is the slice through the recommendation.
    """
    from matplotlib.figure import Figure

    dimension = len(result.problem.coordinates)
    if dimension == 1:
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        _draw_line(figure.subplots(), result)
    else:
        # Up to four coordinates every pair has a panel; beyond that neighbours only, or nothing could be read.
        pairs = (
            list(combinations(range(dimension), 2)) if dimension <= 4 else [(i, i + 1) for i in range(dimension - 1)]
        )
        columns = min(len(pairs), 3)
        rows = -(-len(pairs) // columns)
        size = (7.2, 6.0) if len(pairs) == 1 else (4.4 * columns, 3.8 * rows)
        figure = Figure(figsize=size, layout="constrained")
        axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
        for ax, pair in zip(axes, pairs, strict=False):
            _draw_slice(ax, result, pair)
        for ax in axes[len(pairs) :]:
            ax.set_axis_off()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    slices = "" if dimension <= 2 else ", slices of the posterior mean through the recommendation"
    figure.suptitle(f"{result.problem.name}: {result.method}, seed {result.seed}{slices}", fontsize=11)
    return figure


def _draw_slice(ax: Axes, result: CampaignResult, pair: tuple[int, int]) -> None:
    problem = result.problem
    recommended = np.asarray(result.campaign.recommendation)
    grid = np.linspace(-0.5, 0.5, CELLS)
    points = np.tile(recommended, (CELLS * CELLS, 1))
    points[:, pair[0]], points[:, pair[1]] = (axis.ravel() for axis in np.meshgrid(grid, grid))
    mean = result.campaign.knowledge.belief.mean(points)
    mean = np.where(problem.allowed(points), mean, np.nan).reshape(CELLS, CELLS)
    units = physical(problem.coordinates, points)
    horizontal, vertical = (units[:, axis].reshape(CELLS, CELLS) for axis in pair)
    contours = ax.contourf(horizontal, vertical, mean, levels=14, cmap="Greys", alpha=0.55, zorder=0)
    label = f"posterior mean of {problem.output_title or problem.output}"
    ax.figure.colorbar(contours, ax=ax, label=label, pad=0.02)
    for number, path in enumerate(result.paths, 1):
        draw_walk(ax, _places(result, path, pair), "path" if len(result.paths) == 1 else f"path, episode {number}")
    _mark(ax, _places(result, [problem.start_state], pair), "start", marker="s", s=55, facecolors="none")
    if result.candidate_states:
        candidates = _places(result, result.candidate_states, pair)
        ax.scatter(
            candidates[:, 0], candidates[:, 1], s=26, marker="D", facecolors="none", edgecolors=CANDIDATE_COLOUR, zorder=4,
            label="last candidates",
        )  # fmt: skip
    _mark(ax, _places(result, [recommended], pair), "recommendation", marker="o", s=190, facecolors="none")
    ax.set_xlabel(problem.coordinates[pair[0]].title.replace("_", " "))
    ax.set_ylabel(problem.coordinates[pair[1]].title.replace("_", " "))
    # Room around the box: much of what matters happens on its edges.
    ax.use_sticky_edges = False
    ax.margins(0.05)
    ax.spines[["top", "right"]].set_visible(False)


def draw_walk(ax: Axes, place: Array, name: str, alpha: float = 1.0) -> None:
    """A path from its places (k x 2); the colour of its dots tells early from late, `alpha` is that of the line."""
    ax.plot(place[:, 0], place[:, 1], color="0.25", linewidth=0.9, alpha=alpha, zorder=2)
    early_to_late = np.arange(len(place))
    ax.scatter(
        place[:, 0], place[:, 1], c=early_to_late, cmap="viridis", s=14, zorder=3, label=f"{name} (dark to light)"
    )


def _draw_line(ax: Axes, result: CampaignResult) -> None:
    """One coordinate: mean and two standard deviations, with the measurements."""
    problem, belief = result.problem, result.campaign.knowledge.belief
    points = np.linspace(-0.5, 0.5, 401)[:, None]
    place = physical(problem.coordinates, points)[:, 0]
    mean, spread = belief.mean(points), 2.0 * belief.standard_deviation(points)
    ax.plot(place, mean, color="0.25", label="posterior mean")
    ax.fill_between(place, mean - spread, mean + spread, color="0.85", label="two standard deviations")
    table, name = result.experiments, problem.coordinates[0].name
    ax.scatter(table[name], table[problem.output], s=14, c=np.arange(len(table)), cmap="viridis", label="measurements")
    ax.axvline(
        problem.describe(result.campaign.recommendation)[name], color="black", linestyle="--", label="recommendation"
    )
    ax.set_xlabel(problem.coordinates[0].title.replace("_", " "))
    ax.set_ylabel(problem.output_title or problem.output)


def _places(result: CampaignResult, locations: Any, pair: tuple[int, int]) -> Array:
    """Scaled points as places on paper."""
    return physical(result.problem.coordinates, np.atleast_2d(np.array(locations, dtype=float)))[:, list(pair)]


def _mark(ax: Axes, place: Array, label: str, **style: Any) -> None:
    ax.scatter(place[:, 0], place[:, 1], edgecolors="black", linewidths=1.5, zorder=5, label=label, **style)
