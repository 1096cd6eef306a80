"""Regret curves: how far the recommendation is from the best (the line plots of the paper's section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from tcbo_pyomo.report.figures.canvas import axes_or_new, figure_of
from tcbo_pyomo.studies.figures.axes import scale_axis, series_legend, tidy, whole_numbers
from tcbo_pyomo.studies.figures.curves import band_words, draw_curve, drawn_values, progress, quantiles, seeds_of
from tcbo_pyomo.studies.figures.labels import heading, plain
from tcbo_pyomo.studies.figures.series import series_of
from tcbo_pyomo.studies.figures.tables import RUN, checked, chosen, known_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = (*RUN, "episode", "step", "move", "regret", "identified")


def regret_figure(
    runs: pd.DataFrame, problem: str, feedback: str, unit: str = "", ax: Axes | None = None
) -> Axes:
    """Median regret of every method and grid point, with the band from the 10 % to the 90 % quantile over the seeds.

    Parameters
    ----------
    runs
        The study's table of runs, all problems.
    problem, feedback
        Which of them to draw.
    unit
        Unit of the black box, for the axis.
    ax
        Axes to draw on; a new figure when not given.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    table = checked(runs, "runs", COLUMNS)
    rows = known_values(chosen(table, problem, feedback, "runs"), "regret", "runs")
    along = progress(rows)
    shown = series_of(along.rows, table)
    curves = [quantiles(series.rows(along.rows), "regret") for series in shown]
    own, ax = ax is None, axes_or_new(ax, (7.2, 4.8))
    lines = [
        draw_curve(ax, curve, series.look, series.name, number, len(shown), seeds_of(series.rows(rows)))
        for number, (series, curve) in enumerate(zip(shown, curves, strict=True))
    ]
    scale = scale_axis(ax, "y", drawn_values(curves), zero=zero_words(rows))
    ax.set_xlabel(along.title)
    ax.set_ylabel(regret_title(unit, scale))
    ax.set_title(f"{heading(problem, feedback)}: regret\n{band_words(rows)}", fontsize=10.5)
    whole_numbers(ax)
    tidy(ax)
    series_legend(figure_of(ax) if own else ax, lines, [series.name for series in shown])
    return ax


def regret_title(unit: str, scale: str) -> str:
    """The axis of regret, with its unit and what there is to say about its scale."""
    return f"regret of the recommendation{f' ({plain(unit)})' if unit else ''}" + (f"\n({scale})" if scale else "")


def zero_words(rows: pd.DataFrame) -> str:
    """The tick at zero: on a finite problem it means that the maximum is identified."""
    return "0\n(identified)" if rows["identified"].notna().any() else "0"
