"""The paths of a campaign: over the states there are, or over the posterior mean where there is no end of places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.landscape import Landscape
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.report.figures.canvas import (
    axes_or_new,
    coordinate_pairs,
    figure_of,
    legend_below,
    name_axes,
    pair_panels,
)
from tcbo_pyomo.report.figures.past_places import draw_past
from tcbo_pyomo.report.figures.path_drawing import (
    CANDIDATE_COLOUR,
    LINES_NOTE,
    draw_landscape,
    draw_paths,
    plane,
    truth_title,
)
from tcbo_pyomo.report.figures.posterior_slices import posterior_slices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tcbo_pyomo.campaign.simulation import CampaignResult


def campaign_figure(result: CampaignResult, ax: Axes | None = None) -> Axes:
    """Draw all episodes, the candidates, the recommendation and the landscape below them.

    Parameters
    ----------
    result
        A finished campaign.
    ax
        Axes to draw on. Default: a new figure. A plant with more than two coordinates has a panel for every pair of
        them; on given axes only the first is drawn.

    Returns
    -------
    Axes
        The axes, the first ones where there are several panels.
    """
    landscape = result.problem.landscape()
    if not landscape.only_places:
        return posterior_slices(result, ax)
    coordinates, own = result.problem.input_axes, ax is None
    several = own and len(coordinates) > 2
    panels = pair_panels(len(coordinates)) if several else [axes_or_new(ax, (7.2, 5.8))]
    pairs = coordinate_pairs(len(coordinates)) if several else [tuple(range(min(len(coordinates), 2)))]
    for panel, pair in zip(panels, pairs, strict=True):
        _draw_plane(panel, result, landscape, pair)
    hidden = f" (first 2 of {len(coordinates)} coordinates)" if len(coordinates) > 2 and not several else ""
    title = f"{result.problem.name}: {result.method}, seed {result.seed}{hidden}"
    if several:
        figure_of(panels[0]).suptitle(title, fontsize=11)
    else:
        panels[0].set_title(title, fontsize=11)
    legend_below(panels[0], own, ncols=5, fontsize=8, labelspacing=0.9, frameon=False, title=LINES_NOTE, title_fontsize=8)
    return panels[0]


def _draw_plane(ax: Axes, result: CampaignResult, landscape: Landscape, axes: tuple[int, ...]) -> None:
    """Paths and marks on one or two of the coordinates."""
    contours = draw_landscape(ax, _seen(landscape, axes))
    if contours is not None:
        ax.figure.colorbar(contours, ax=ax, label=truth_title(result.problem), pad=0.02)
    draw_paths(ax, [_places(result.problem, path, axes) for path in result.paths])
    _draw_marks(ax, result, _seen(landscape, axes), axes)
    name_axes(ax, [result.problem.input_axes[axis].title for axis in axes])


def _seen(landscape: Landscape, axes: tuple[int, ...]) -> Landscape:
    """What is seen of the states on some of their coordinates; values only where that is all of them."""
    if len(axes) == landscape.places.shape[1]:
        return landscape
    places = np.unique(landscape.places[:, axes], axis=0)
    return replace(landscape, places=places, truth=None, maxima=landscape.maxima[:, axes])


def _places(problem: ProblemProtocol, locations: list[Location], axes: tuple[int, ...]) -> Array:
    """What the black box sees of states, on paper, k x 2."""
    names = [axis.name for axis in problem.input_axes]
    described = [[values[name] for name in names] for values in map(problem.describe, locations)]
    return plane(np.array(described, dtype=float).reshape(-1, len(names))[:, axes])


def _draw_marks(ax: Axes, result: CampaignResult, landscape: Landscape, axes: tuple[int, ...]) -> None:
    """Start, remaining candidates, recommendation and, where it is known, the best."""
    problem = result.problem

    def mark(states: list[Location], label: str, **style: Any) -> None:
        ax.scatter(*_places(problem, states, axes).T, edgecolors="black", label=label, **style)

    draw_past(ax, result.campaign, axes)
    mark([problem.start_state], "start", marker="s", s=60, linewidths=1.3, facecolors="none", zorder=5)
    mark(result.candidate_states, "remaining candidates", s=75, linewidths=0.9, color=CANDIDATE_COLOUR, zorder=4)
    recommended = problem.locate(result.episodes[-1].recommendation)
    mark([recommended], "recommendation", s=230, linewidths=1.6, facecolors="none", zorder=5)
    if len(landscape.maxima):
        star: dict[str, Any] = {"marker": "*", "s": 90, "color": "black", "linewidths": 0, "zorder": 6}
        ax.scatter(*plane(landscape.maxima).T, label=f"true {problem.goal.noun(problem.output_unit)}", **star)
