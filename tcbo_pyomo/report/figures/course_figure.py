"""The course of a campaign: every set-point and the results, move by move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.wording import spaced
from tcbo_pyomo.problem.in_words import output_title
from tcbo_pyomo.report.figures.path_drawing import CANDIDATE_COLOUR, EPISODE_COLOURS
from tcbo_pyomo.surrogate.target import Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOUBTED: dict[str, Any] = {
    "marker": "^",
    "s": 70,
    "facecolors": "none",
    "edgecolors": "black",
    "linewidths": 1.2,
    "zorder": 6,
    "label": "unlikely under the model",
}
MOST_MARKS = 120
"""Moves from which on marks would run into each other."""


def course_figure(campaign: Campaign) -> Axes:
    """One panel for each coordinate and one for the output, over the moves; the axes of the output are returned.

    A dotted line ends an episode: the plant is back at the start. Results that the model finds unlikely, and that
    nobody confirmed, have a triangle around them.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    problem, history = campaign.problem, campaign.history
    names = [coordinate.name for coordinate in problem.coordinates]
    figure = Figure(figsize=(7.2, 1.2 + 1.1 * (len(names) + 1)), layout="constrained")
    axes = figure.subplots(len(names) + 1, 1, squeeze=False, sharex=True).ravel()
    marker = "o" if history.moves_made <= MOST_MARKS else None
    episodes = range(1, max([1, *(move.episode for move in history.made)]) + 1)
    for episode in episodes:
        places = [problem.describe(location) for location in history.path(episode)]
        before = history.moves_of(episode - 1)
        for ax, name in zip(axes, names, strict=False):
            at = before + np.arange(len(places))
            values = [place[name] for place in places]
            ax.plot(at, values, color=EPISODE_COLOURS[0], marker=marker, markersize=3.0, linewidth=1.1)
    _draw_results(axes[-1], campaign)
    for ax, title in zip(axes, [*(c.title for c in problem.coordinates), output_label(campaign)], strict=True):
        for episode in episodes[1:]:
            ax.axvline(history.moves_of(episode - 1), color="0.6", linestyle="dotted", linewidth=0.9, zorder=0)
        ax.set_ylabel(spaced(title), fontsize=8)
        ax.margins(y=0.15)
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("move")
    axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    figure.align_ylabels(axes)
    return axes[-1]


def output_label(campaign: Campaign) -> str:
    """What is measured, with its unit."""
    unit = campaign.problem.output_unit
    return f"{output_title(campaign.problem)} ({unit})" if unit else output_title(campaign.problem)


def results_over_moves(campaign: Campaign) -> tuple[Array, list[bool]]:
    """Move and value of every result, n x 2, and whether the model finds it unlikely and nobody confirmed it."""
    rows, doubted = [], []
    for move in campaign.history.made:
        for (value, surprise), moment in zip(move.measured, move.moments, strict=True):
            rows.append((campaign.history.order(move) - 1.0 + moment, value))
            doubted.append(surprise is not None and not surprise.confirmed)
    return np.array(rows, dtype=float).reshape(-1, 2), doubted


def _draw_results(ax: Axes, campaign: Campaign) -> None:
    results, doubted = results_over_moves(campaign)
    ax.scatter(results[:, 0], results[:, 1], s=12, color=EPISODE_COLOURS[0], linewidths=0)
    if any(doubted):
        unlikely = results[doubted]
        ax.scatter(unlikely[:, 0], unlikely[:, 1], **DOUBTED)
        ax.legend(fontsize=7, frameon=False, loc="best")
    goal = campaign.problem.goal
    if isinstance(goal, Target):
        ax.axhline(goal.value, color=CANDIDATE_COLOUR, linestyle="dashed", linewidth=1.0)
