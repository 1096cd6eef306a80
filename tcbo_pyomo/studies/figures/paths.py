"""Paths of one seed on the landscape, one panel per method (the right-hand side of the paper's Knorr figure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.problem.landscape import Landscape
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.report.figures.canvas import panel_grid
from tcbo_pyomo.report.figures.path_drawing import LINES_NOTE, draw_landscape, draw_paths, draw_walk, truth_title
from tcbo_pyomo.report.figures.region_outlines import draw_region
from tcbo_pyomo.studies.figures.axes import panel_columns, series_legend
from tcbo_pyomo.studies.figures.labels import folded, heading, plain
from tcbo_pyomo.studies.figures.path_data import Walk, walks_of
from tcbo_pyomo.studies.figures.traces import traces_figure
from tcbo_pyomo.surrogate.goal import Goal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure

MOST_PANELS = 9
PANEL_LINE = 44


def paths_figure(
    paths: pd.DataFrame,
    problem: str,
    feedback: str,
    seed: int | None = None,
    source: str | None = None,
    goal: Goal | None = None,
) -> Figure:
    """Draw where one run of every series went.

    Parameters
    ----------
    paths
        The study's table of paths.
    problem, feedback
        Which of them to draw.
    seed
        The seed to draw; without it the first one that most series have.
    source
        The problem's name or .py file for `load_problem`, where it is not what the table calls it.
    goal
        What was sought, where it is not the problem's own goal.

    Returns
    -------
    Figure
        Panels over the true function with two coordinates that it depends on, otherwise every coordinate over the moves.
    """
    taken, walks = walks_of(paths, problem, feedback, seed)
    # The kind of feedback and the seed may decide what the black box is.
    known = load_problem(source or problem, feedback.partition(" ")[0], taken)
    known = known if goal is None else known.with_goal(goal)
    dimension = walks[0].episodes[0].shape[1]
    if dimension != len(known.coordinates):
        raise BadInput(
            f"paths: problem '{problem}' has {len(known.coordinates)} coordinates, the table has {dimension}"
        )
    if dimension != 2 or known.input_axes != known.coordinates:
        return traces_figure(paths, problem, feedback, taken, [c.title for c in known.coordinates])
    drawn = walks[:MOST_PANELS]
    columns = panel_columns(len(drawn))
    # A colour bar and both axis titles take about an inch and a half.
    figure, axes = panel_grid(len(drawn), columns, (3.6, 3.4), (1.6, 1.5), sharex=True, sharey=True)
    landscape = known.landscape()
    contours = [_draw_panel(ax, walk, known, landscape) for ax, walk in zip(axes, drawn, strict=False)]
    # Over an empty place of the last row stand axes whose ticks would be hidden otherwise.
    for ax in axes[max(len(drawn) - columns, 0) : len(drawn)]:
        ax.set_xlabel(plain(known.coordinates[0].title.replace("_", " ")))
        ax.tick_params(labelbottom=True)
    for ax in axes[: len(drawn) : columns]:
        ax.set_ylabel(plain(known.coordinates[1].title.replace("_", " ")))
    if contours[0] is not None:
        figure.colorbar(contours[0], ax=list(axes), label=plain(truth_title(known)), pad=0.02, aspect=30)
    left_out = f" (first {len(drawn)} of {len(walks)} series)" if len(drawn) < len(walks) else ""
    figure.suptitle(f"{heading(problem, feedback)}: paths of seed {taken}{left_out}", fontsize=10.5)
    several = any(len(walk.episodes) > 1 for walk in drawn)
    series_legend(figure, axes[0].get_legend_handles_labels()[0], LINES_NOTE if several else None)
    return figure


def _draw_panel(ax: Axes, walk: Walk, problem: ProblemProtocol, landscape: Landscape) -> ContourSet | None:
    """One run, from the bottom layer to the top one."""
    contours = draw_landscape(ax, landscape)
    for region in (region for rule in problem.rules for region in rule.regions):
        draw_region(ax, region, problem.coordinates)
        # One entry of the legend for all of them.
        ax.plot([], [], color="black", linewidth=3.5, label="forbidden")
    if len(landscape.maxima):
        star: dict[str, Any] = {"marker": "*", "s": 110, "edgecolors": "white", "linewidths": 0.6, "zorder": 6}
        ax.scatter(*landscape.maxima.T, color="black", label=f"true {plain(problem.goal.noun(problem.output_unit))}", **star)
    if len(walk.episodes) == 1:
        # From state to state the moves may be long; their lines must not hide where the plant was.
        draw_walk(ax, walk.episodes[0], "path", alpha=0.4 if landscape.only_places else 1.0)
    else:
        draw_paths(ax, walk.episodes)
    start = walk.episodes[0][:1]
    style: dict[str, Any] = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.3, "zorder": 5}
    ax.scatter(start[:, 0], start[:, 1], marker="s", s=60, label="start", **style)
    ax.set_title(folded(walk.series.name, PANEL_LINE), fontsize=9.5)
    ax.use_sticky_edges = False
    ax.margins(0.05)
    ax.spines[["top", "right"]].set_visible(False)
    return contours
