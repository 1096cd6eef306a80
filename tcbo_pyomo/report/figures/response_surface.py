"""The response surface as it is believed now: the posterior mean over the states of a finite plant, with all results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.foundation.wording import spaced
from tcbo_pyomo.problem.in_words import inputs_at
from tcbo_pyomo.report.figures.canvas import coordinate_pairs, legend_below, name_axes, pair_panels
from tcbo_pyomo.report.figures.course_figure import DOUBTED, output_label, results_over_moves
from tcbo_pyomo.report.figures.past_places import PAST_STYLE, draw_past
from tcbo_pyomo.report.figures.path_drawing import EPISODE_COLOURS, draw_contours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tcbo_pyomo.problem.finite import Problem

RING: dict[str, Any] = {"s": 190, "facecolors": "none", "edgecolors": "black", "linewidths": 1.5, "zorder": 5}


def response_surface(campaign: Campaign) -> Axes:
    """Posterior mean with results and recommendation; with three and more inputs slices through the recommendation.

    With one input the mean is a line with two standard deviations around it. The first axes are returned.
    """
    dimension = len(campaign.problem.input_axes)
    panels = pair_panels(dimension)
    if dimension == 1:
        _draw_line(panels[0], campaign)
    for panel, pair in zip(panels, coordinate_pairs(dimension), strict=False):
        _draw_slice(panel, campaign, pair)
    legend_below(panels[0], True, ncols=4, fontsize=8, frameon=False)
    return panels[0]


def _draw_slice(ax: Axes, campaign: Campaign, pair: tuple[int, int]) -> None:
    problem, columns = campaign.problem, list(pair)
    places, mean, _ = _believed(campaign)
    here = np.array(list(inputs_at(problem, campaign.recommendation).values()))
    others = [axis for axis in range(places.shape[1]) if axis not in pair]
    shown = np.all(np.isclose(places[:, others], here[others]), axis=1)
    plane, height = places[shown][:, columns], mean[shown]
    if np.linalg.matrix_rank(plane - plane[0]) == 2:
        contours = draw_contours(ax, plane, height)
        ax.figure.colorbar(contours, ax=ax, label=f"posterior mean of {output_label(campaign)}", pad=0.02)
    measured, _, doubted = _results(campaign)
    draw_past(ax, campaign, pair)
    style: dict[str, Any] = {"s": 16, "color": EPISODE_COLOURS[0], "linewidths": 0, "zorder": 4, "label": "results"}
    ax.scatter(*measured[:, columns].T, **style)
    if doubted.any():
        ax.scatter(*measured[doubted][:, columns].T, **DOUBTED)
    ax.scatter(*here[columns], label="recommendation", **RING)
    name_axes(ax, [problem.input_axes[axis].title for axis in pair])


def _draw_line(ax: Axes, campaign: Campaign) -> None:
    places, mean, deviation = _believed(campaign)
    order = np.argsort(places[:, 0])
    at, mean, spread = places[order, 0], mean[order], 2.0 * deviation[order]
    ax.plot(at, mean, color="0.25", marker="o", markersize=2.5, label="posterior mean")
    ax.fill_between(at, mean - spread, mean + spread, color="0.85", label="two standard deviations")
    measured, values, doubted = _results(campaign)
    ax.scatter(measured[:, 0], values, s=16, color=EPISODE_COLOURS[0], linewidths=0, zorder=4, label="results")
    if doubted.any():
        ax.scatter(measured[doubted, 0], values[doubted], **DOUBTED)
    past, axis = campaign.history.past, campaign.problem.input_axes[0]
    if past:
        told = [result.value for _, result in past.rows]
        ax.scatter(physical([axis], past.points(campaign.problem))[:, 0], told, **PAST_STYLE)
    (recommended,) = inputs_at(campaign.problem, campaign.recommendation).values()
    ax.axvline(recommended, color="black", linestyle="--", label="recommendation")
    ax.set(xlabel=spaced(axis.title), ylabel=output_label(campaign))
    ax.spines[["top", "right"]].set_visible(False)


def _believed(campaign: Campaign) -> tuple[Array, Array, Array]:
    """Every distinct input in engineering units, with mean and standard deviation."""
    problem = cast("Problem", campaign.problem)
    mean, deviation = campaign.knowledge.predict(problem.first_states.tolist())
    return problem.landscape().places, mean, deviation


def _results(campaign: Campaign) -> tuple[Array, Array, Array]:
    """Inputs and value of every result in the order of the moves, and which are doubted."""
    problem, rows = campaign.problem, results_over_moves(campaign)
    places = [list(inputs_at(problem, visit.arrived).values()) for move in campaign.history.made for visit in move.visits]
    inputs = np.array(places, dtype=float).reshape(-1, len(problem.input_axes))
    return inputs, rows[0][:, 1], np.array(rows[1], dtype=bool)
