"""Where past experiments were made, as small crosses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.report.figures.path_drawing import plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAST_STYLE: dict[str, Any] = {
    "marker": "x",
    "s": 22,
    "color": "0.25",
    "linewidths": 0.9,
    "zorder": 3,
    "label": "past experiments",
}


def draw_past(ax: Axes, campaign: Campaign, axes: Sequence[int]) -> None:
    """The places on one or two of the inputs of the black box; nothing where there are none."""
    past, problem = campaign.history.past, campaign.problem
    if past:
        points = physical(problem.input_axes, past.points(problem))[:, list(axes)]
        ax.scatter(*plane(points).T, **PAST_STYLE)
