"""Where the plant has been, and nothing else: the picture of a campaign whose model must not be computed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.report.figures.canvas import (
    axes_or_new,
    coordinate_pairs,
    legend_below,
    name_axes,
    pair_panels,
)
from tcbo_pyomo.report.figures.path_drawing import LINES_NOTE, draw_paths, plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def visited_figure(problem: ProblemProtocol, paths: Sequence[Sequence[Location]]) -> Axes:
    """One line per episode, on one panel for every pair of coordinates; the axes, the first where there are several."""
    number = len(problem.coordinates)
    panels = pair_panels(number) if number > 2 else [axes_or_new(None, (7.2, 5.8))]
    pairs = coordinate_pairs(number) if number > 2 else [tuple(range(number))]
    for panel, pair in zip(panels, pairs, strict=True):
        drawn = [_on_paper(problem, path, pair) for path in paths]
        draw_paths(panel, drawn)
        name_axes(panel, [problem.coordinates[axis].title for axis in pair])
    legend_below(panels[0], True, ncols=5, fontsize=8, labelspacing=0.9, frameon=False, title=LINES_NOTE, title_fontsize=8)
    return panels[0]


def _on_paper(problem: ProblemProtocol, path: Sequence[Location], axes: tuple[int, ...]) -> Array:
    """Places in engineering units, k x 2."""
    rows = [list(problem.describe(place).values()) for place in path]
    return plane(np.array(rows, dtype=float).reshape(-1, len(problem.coordinates))[:, axes])
