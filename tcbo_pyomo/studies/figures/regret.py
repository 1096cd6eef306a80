"""Regret curves: how far the recommendation is from the best (the line plots of the paper's section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from tcbo_pyomo.report.figures.canvas import axes_or_new, figure_of
from tcbo_pyomo.studies.figures.axes import scale_axis, series_legend, tidy, whole_numbers
from tcbo_pyomo.studies.figures.curves import band_words, draw_curves, progress
from tcbo_pyomo.studies.figures.figure_data import known_runs
from tcbo_pyomo.studies.figures.labels import heading, plain
from tcbo_pyomo.studies.figures.series import parts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def regret_figure(runs: pd.DataFrame, problem: str, feedback: str, unit: str = "", ax: Axes | None = None) -> Axes:
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
    table, rows = known_runs(runs, problem, feedback, "regret", "identified")
    along = progress(rows)
    own, ax = ax is None, axes_or_new(ax, (7.2, 4.8))
    lines, values = draw_curves(ax, parts_of(along.rows, table), "regret")
    scale = scale_axis(ax, "y", values, zero=zero_words(rows))
    ax.set(xlabel=along.title, ylabel=regret_title(unit, scale))
    ax.set_title(f"{heading(problem, feedback)}: regret\n{band_words(rows)}", fontsize=10.5)
    whole_numbers(ax)
    tidy(ax)
    series_legend(figure_of(ax) if own else ax, lines)
    return ax


def regret_title(unit: str, scale: str) -> str:
    """The axis of regret, with its unit and what there is to say about its scale."""
    return f"regret of the recommendation{f' ({plain(unit)})' if unit else ''}" + (f"\n({scale})" if scale else "")


def zero_words(rows: pd.DataFrame) -> str:
    """The tick at zero: on a finite problem it means that the maximum is identified."""
    return "0\n(identified)" if rows["identified"].notna().any() else "0"
