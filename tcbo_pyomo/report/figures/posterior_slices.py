"""The path of a campaign on a continuous plant, over the posterior mean (section 5.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.foundation.wording import spaced
from tcbo_pyomo.report.figures.canvas import coordinate_pairs, figure_of, legend_below, name_axes, pair_panels
from tcbo_pyomo.report.figures.past_places import PAST_STYLE, draw_past
from tcbo_pyomo.report.figures.path_drawing import CANDIDATE_COLOUR, draw_walk

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tcbo_pyomo.campaign.simulation import CampaignResult
    from tcbo_pyomo.knowledge.continuous import ContinuousKnowledge
    from tcbo_pyomo.problem.continuous import ContinuousProblem

CELLS = 161


def posterior_slices(result: CampaignResult, ax: Axes | None = None) -> Axes:
    """Path, candidates and recommendation over the posterior mean, one panel per pair of inputs of the black box.

    With more than two of them each panel is the slice through the recommendation; on axes that are given the first
    pair is drawn. The axes are returned, the first ones where there are several panels.
    """
    dimension = len(result.problem.input_axes)
    slices = "" if dimension <= 2 else ", slices of the posterior mean through the recommendation"
    title = f"{result.problem.name}: {result.method}, seed {result.seed}{slices}"
    panels = [ax] if ax is not None else pair_panels(dimension)
    if dimension == 1:
        _draw_line(panels[0], result)
    for panel, pair in zip(panels, coordinate_pairs(dimension), strict=False):
        _draw_slice(panel, result, pair)
    if ax is None:
        figure_of(panels[0]).suptitle(title, fontsize=11)
    else:
        ax.set_title(title, fontsize=11)
    legend_below(panels[0], ax is None, ncols=4, fontsize=8, frameon=False)
    return panels[0]


def _draw_slice(ax: Axes, result: CampaignResult, pair: tuple[int, int]) -> None:
    problem, knowledge = _continuous(result)
    recommended = problem.observed(np.asarray(result.campaign.recommendation))
    grid = np.linspace(-0.5, 0.5, CELLS)
    points = np.tile(recommended, (CELLS * CELLS, 1))
    points[:, pair[0]], points[:, pair[1]] = (axis.ravel() for axis in np.meshgrid(grid, grid))
    mean = knowledge.predict_inputs(points)[0]
    allowed = np.ones(len(points), dtype=bool) if problem.has_hidden else problem.allowed(points)
    mean = np.where(allowed, mean, np.nan).reshape(CELLS, CELLS)
    units = physical(problem.input_axes, points)
    horizontal, vertical = (units[:, axis].reshape(CELLS, CELLS) for axis in pair)
    contours = ax.contourf(horizontal, vertical, mean, levels=14, cmap="Greys", alpha=0.55, zorder=0)
    label = f"posterior mean of {problem.output_title or problem.output}"
    ax.figure.colorbar(contours, ax=ax, label=label, pad=0.02)
    for number, path in enumerate(result.paths, 1):
        label = "path" if len(result.paths) == 1 else f"path, episode {number}"
        draw_walk(ax, _places(problem, problem.observed(np.array(path)), pair), label)

    def mark(points: Any, label: str, **style: Any) -> None:
        ax.scatter(*_places(problem, points, pair).T, facecolors="none", label=label, **style)

    draw_past(ax, result.campaign, pair)
    ring = {"edgecolors": "black", "linewidths": 1.5, "zorder": 5}
    mark(problem.observed(np.array([problem.start_state])), "start", marker="s", s=55, **ring)
    if result.candidate_states:
        mark(result.candidate_states, "last candidates", marker="D", s=26, edgecolors=CANDIDATE_COLOUR, zorder=4)
    mark([recommended], "recommendation", s=190, **ring)
    name_axes(ax, [problem.input_axes[axis].title for axis in pair])


def _draw_line(ax: Axes, result: CampaignResult) -> None:
    """One coordinate: mean and two standard deviations, with the measurements."""
    problem, knowledge = _continuous(result)
    points = np.linspace(-0.5, 0.5, 401)[:, None]
    place = physical(problem.input_axes, points)[:, 0]
    mean, deviation = knowledge.predict_inputs(points)
    spread = 2.0 * deviation
    ax.plot(place, mean, color="0.25", label="posterior mean")
    ax.fill_between(place, mean - spread, mean + spread, color="0.85", label="two standard deviations")
    table, name = result.experiments, problem.input_axes[0].name
    ax.scatter(table[name], table[problem.output], s=14, c=np.arange(len(table)), cmap="viridis", label="measurements")
    past = result.campaign.history.past
    if past:
        values = [measured.value for _, measured in past.rows]
        ax.scatter(physical(problem.input_axes, past.points(problem))[:, 0], values, **PAST_STYLE)
    recommended = problem.describe(result.campaign.recommendation)[name]
    ax.axvline(recommended, color="black", linestyle="--", label="recommendation")
    ax.set(xlabel=spaced(problem.input_axes[0].title), ylabel=problem.output_title or problem.output)


def _places(problem: ContinuousProblem, points: Any, pair: tuple[int, int]) -> Array:
    """Scaled inputs as places on paper."""
    return physical(problem.input_axes, np.atleast_2d(np.array(points, dtype=float)))[:, list(pair)]


def _continuous(result: CampaignResult) -> tuple[ContinuousProblem, ContinuousKnowledge]:
    """The problem and what is known of it; only continuous plants are drawn here."""
    return cast("ContinuousProblem", result.problem), cast("ContinuousKnowledge", result.campaign.knowledge)
