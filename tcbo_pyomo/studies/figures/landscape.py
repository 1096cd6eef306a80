"""The true function of a problem with two coordinates, drawn pale under the paths of every panel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.report.figures.paths_figure import draw_states, draw_truth, pale_colours, plane
from tcbo_pyomo.report.figures.region_outlines import draw_region

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet

CELLS = 101
AS_GOOD = 0.005
"""A peak so close to the maximum, as a share of the range, is one of several maxima; the grid resolves no more."""


@dataclass(frozen=True)
class Landscape:
    """Draws a problem's truth, states, forbidden regions and maxima; a truth that is not known is left out."""

    problem: Problem | ContinuousProblem

    def draw(self, ax: Axes) -> ContourSet | None:
        """Everything below the paths; returns the contours for a colour bar."""
        problem = self.problem
        contours: ContourSet | None = None
        if isinstance(problem, Problem):
            points = plane(problem.process)
            contours = draw_truth(ax, problem, points)
            draw_states(ax, points)
        elif problem.truth is not None:
            first, second, values = self._grid
            contours = ax.contourf(first, second, values, levels=14, cmap=pale_colours(), zorder=0)
        for rule in problem.rules:
            for region in rule.regions:
                draw_region(ax, region, problem.coordinates)
                # One entry of the legend for all of them.
                ax.plot([], [], color="black", linewidth=3.5, label="forbidden")
        if len(self.maxima):
            style: dict[str, Any] = {"marker": "*", "s": 110, "edgecolors": "white", "linewidths": 0.6, "zorder": 6}
            ax.scatter(*self.maxima.T, color="black", label="true maximum", **style)
        return contours

    @cached_property
    def maxima(self) -> Array:
        """Places of the true maximum, k x 2; on a continuous plant to the nearest cell of a grid."""
        from scipy.ndimage import maximum_filter

        problem = self.problem
        if problem.truth is None:
            return np.empty((0, 2))
        if isinstance(problem, Problem):
            return plane(problem.process)[[problem.best_state]]
        first, second, values = self._grid
        low = np.where(np.isnan(values), -np.inf, values)
        best = low.max() - AS_GOOD * (np.nanmax(values) - np.nanmin(values))
        peaks = (low == maximum_filter(low, size=7)) & (low >= best)
        return np.column_stack([first[peaks], second[peaks]])

    @cached_property
    def _grid(self) -> tuple[Array, Array, Array]:
        """Places and true values of a continuous plant, each CELLS x CELLS; NaN where a rule forbids to be."""
        problem = self.problem
        assert isinstance(problem, ContinuousProblem) and problem.truth is not None
        line = np.linspace(-0.5, 0.5, CELLS)
        points = np.column_stack([axis.ravel() for axis in np.meshgrid(line, line)])
        places = physical(problem.coordinates, points)
        values = np.where(problem.allowed(points), problem.truth(places), np.nan)
        return (
            places[:, 0].reshape(CELLS, CELLS),
            places[:, 1].reshape(CELLS, CELLS),
            values.reshape(CELLS, CELLS),
        )

    def points(self, places: list[Array]) -> Array:
        """What tells how far apart paths may be shifted: the states, or on a continuous plant the paths themselves."""
        return plane(self.problem.process) if isinstance(self.problem, Problem) else np.concatenate(places)
