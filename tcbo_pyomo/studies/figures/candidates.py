"""The candidate set over time: how many states or points may still be the maximum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.report.figures.canvas import axes_or_new, figure_of
from tcbo_pyomo.studies.figures.axes import scale_axis, series_legend, tidy, whole_numbers
from tcbo_pyomo.studies.figures.curves import band_words, draw_curves
from tcbo_pyomo.studies.figures.figure_data import SERIES, known_runs
from tcbo_pyomo.studies.figures.labels import folded, heading, plain
from tcbo_pyomo.studies.figures.series import parts_of, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TICKS = 10


def candidates_figure(
    runs: pd.DataFrame, problem: str, feedback: str, ax: Axes | None = None, best: str = "maximum"
) -> Axes:
    """Median number of candidates after each move, with the band from the 10 % to the 90 % quantile over the seeds.

    It is drawn on `ax`, or on a new figure; the axes are returned. `best` is what was sought, in words.
    """
    table, rows = known_runs(runs, problem, feedback, "candidates")
    # Zero candidates all the time: a method that keeps no such set.
    rows = rows.assign(at=rows["move"], most=rows.groupby(SERIES)["candidates"].transform("max"))
    without = [series.name for series in series_of(rows, table) if series.rows(rows)["most"].eq(0).all()]
    rows = rows[rows["most"] > 0]
    if rows.empty:
        raise BadInput(f"runs: problem '{problem}', {feedback} feedback: no method keeps candidates; nothing to draw")
    own, ax = ax is None, axes_or_new(ax, (7.2, 4.8))
    lines, values = draw_curves(ax, parts_of(rows, table), "candidates", steps=True)
    scale_axis(ax, "y", values)
    horizons = rows.groupby(SERIES)["step"].max().unique()
    several = rows["episode"].max() > 1 and len(horizons) == 1
    if several:
        ends = np.arange(1, rows["episode"].max() + 1) * horizons[0]
        every = -(-len(ends) // MOST_TICKS)
        ax.set_xticks(ends[(len(ends) - 1) % every :: every])
        ax.grid(axis="x", color="0.9", linewidth=0.7)
    else:
        whole_numbers(ax)
    moves = f"move ({horizons[0]:g} per episode)" if several else "move"
    ax.set(xlabel=moves, ylabel=f"candidates for the {plain(best)} (number)")
    others = f"\n{folded('without candidates: ' + ', '.join(without))}" if without else ""
    ax.set_title(f"{heading(problem, feedback)}: candidates\n{band_words(rows)}{others}", fontsize=10.5)
    tidy(ax)
    series_legend(figure_of(ax) if own else ax, lines)
    return ax
