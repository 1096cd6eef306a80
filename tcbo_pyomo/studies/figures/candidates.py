"""The candidate set over time: how many states or points may still be the maximum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tcbo_pyomo.studies.figures.axes import legend_below, scale_axis, tidy, whole_numbers
from tcbo_pyomo.studies.figures.curves import band_words, draw_curve, drawn_values, quantiles, seeds_of
from tcbo_pyomo.studies.figures.series import series_of
from tcbo_pyomo.studies.figures.tables import RUN, SERIES, checked, chosen, known_values
from tcbo_pyomo.studies.figures.wording import heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (*RUN, "episode", "step", "move", "candidates")


def candidates_figure(runs: pd.DataFrame, problem: str, feedback: str) -> Figure:
    """Median number of candidates after each move, with the band from the 10 % to the 90 % quantile over the seeds."""
    from matplotlib.figure import Figure

    table = checked(runs, "runs", COLUMNS)
    rows = known_values(chosen(table, problem, feedback, "runs"), "candidates", "runs")
    rows = rows.assign(at=rows["move"])
    shown = series_of(rows, table)
    curves = [quantiles(series.rows(rows), "candidates") for series in shown]
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    ax = figure.subplots()
    lines = [
        draw_curve(ax, curve, series.look, series.name, number, len(shown), seeds_of(series.rows(rows)))
        for number, (series, curve) in enumerate(zip(shown, curves, strict=True))
    ]
    scale_axis(ax, "y", drawn_values(curves))
    horizons = rows.groupby(SERIES)["step"].max().unique()
    several = rows["episode"].max() > 1 and len(horizons) == 1
    if several:
        for end in np.arange(1, rows["episode"].max()) * horizons[0]:
            ax.axvline(end, color="0.85", linewidth=0.8, zorder=0)
    ax.set_xlabel(f"move (grey lines: ends of episodes, every {horizons[0]:g} moves)" if several else "move")
    ax.set_ylabel("candidates for the maximum (number)")
    ax.set_title(f"{heading(problem, feedback)}: candidates\n{band_words(rows)}", fontsize=10.5)
    whole_numbers(ax)
    tidy(ax)
    legend_below(figure, lines, [series.name for series in shown])
    return figure
