"""The candidate set over time: how many states or points may still be the maximum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.report.figures.canvas import axes_or_new, figure_of
from tcbo_pyomo.studies.figures.axes import scale_axis, series_legend, tidy, whole_numbers
from tcbo_pyomo.studies.figures.curves import band_words, draw_curve, drawn_values, quantiles, seeds_of
from tcbo_pyomo.studies.figures.labels import folded, heading
from tcbo_pyomo.studies.figures.series import series_of
from tcbo_pyomo.studies.figures.tables import RUN, SERIES, checked, chosen, known_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = (*RUN, "episode", "step", "move", "candidates")
MOST_TICKS = 10


def candidates_figure(runs: pd.DataFrame, problem: str, feedback: str, ax: Axes | None = None) -> Axes:
    """Median number of candidates after each move, with the band from the 10 % to the 90 % quantile over the seeds.

    It is drawn on `ax`, or on a new figure; the axes are returned.
    """
    table = checked(runs, "runs", COLUMNS)
    rows = known_values(chosen(table, problem, feedback, "runs"), "candidates", "runs")
    # Zero candidates all the time: a method that keeps no such set.
    rows = rows.assign(at=rows["move"], most=rows.groupby(SERIES)["candidates"].transform("max"))
    without = [series.name for series in series_of(rows, table) if series.rows(rows)["most"].eq(0).all()]
    rows = rows[rows["most"] > 0]
    if rows.empty:
        raise BadInput(f"runs: problem '{problem}', {feedback} feedback: no method keeps candidates; nothing to draw")
    shown = series_of(rows, table)
    curves = [quantiles(series.rows(rows), "candidates") for series in shown]
    own, ax = ax is None, axes_or_new(ax, (7.2, 4.8))
    lines = [
        draw_curve(ax, curve, series.look, series.name, number, len(shown), seeds_of(series.rows(rows)), steps=True)
        for number, (series, curve) in enumerate(zip(shown, curves, strict=True))
    ]
    scale_axis(ax, "y", drawn_values(curves))
    horizons = rows.groupby(SERIES)["step"].max().unique()
    several = rows["episode"].max() > 1 and len(horizons) == 1
    if several:
        ends = np.arange(1, rows["episode"].max() + 1) * horizons[0]
        ax.set_xticks(ends[(len(ends) - 1) % -(-len(ends) // MOST_TICKS) :: -(-len(ends) // MOST_TICKS)])
        ax.grid(axis="x", color="0.9", linewidth=0.7)
    else:
        whole_numbers(ax)
    ax.set_xlabel(f"move ({horizons[0]:g} per episode)" if several else "move")
    ax.set_ylabel("candidates for the maximum (number)")
    others = f"\n{folded('without candidates: ' + ', '.join(without))}" if without else ""
    ax.set_title(f"{heading(problem, feedback)}: candidates\n{band_words(rows)}{others}", fontsize=10.5)
    tidy(ax)
    series_legend(figure_of(ax) if own else ax, lines, [series.name for series in shown])
    return ax
