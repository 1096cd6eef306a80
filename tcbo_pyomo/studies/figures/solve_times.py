"""Solve times: how long one plan takes, as a table and as dots with their values written beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from tcbo_pyomo.report.figures.canvas import axes_or_new
from tcbo_pyomo.studies.figures.axes import LETTER, scale_axis
from tcbo_pyomo.studies.figures.curves import quantiles
from tcbo_pyomo.studies.figures.figure_data import SERIES, checked
from tcbo_pyomo.studies.figures.labels import LINE, counted, folded, heading
from tcbo_pyomo.studies.figures.series import Look, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KEYS = ["problem", "feedback", *SERIES]


def solve_time_table(timings: pd.DataFrame) -> pd.DataFrame:
    """Seconds per plan of each problem, feedback, method and grid point: number of plans, 10 %, median, 90 %."""
    rows = checked(timings, "timings", (*KEYS, "seconds")).dropna(subset="seconds")
    if rows.empty:
        checked(rows, "timings", KEYS)  # says that there are none
    grouped = rows.groupby(KEYS, sort=False)["seconds"]
    table = quantiles(grouped).add_suffix("_seconds")
    table.insert(0, "plans", grouped.size())
    return table.reset_index()


def solve_time_figure(timings: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """A dot at the median and a line from the 10 % to the 90 % quantile; rows in groups by problem and feedback.

    They are drawn on `ax`, or on a new figure; the axes are returned.
    """
    table = solve_time_table(timings)
    groups = list(table.groupby(["problem", "feedback"], sort=False))
    longest = max(len(series.name) for _, part in groups for series in series_of(part, table))
    lines = len(table) + len(groups)
    # Names on the left and numbers on the right must leave room for the dots.
    ax = axes_or_new(ax, (8.2 + LETTER * max(0, min(longest, LINE) - 32), 1.4 + 0.27 * lines))
    titles: list[int] = []
    labels: list[str] = []
    for (problem, feedback), part in groups:
        titles.append(len(labels))
        labels.append(heading(problem, feedback))
        for series, row in zip(series_of(part, table), part.itertuples(), strict=True):
            _draw_row(ax, len(labels), series.look, row)
            labels.append(folded(series.name))
    ax.set_yticks(range(lines), labels, fontsize=8)
    for place in titles:
        ax.get_yticklabels()[place].set_fontweight("bold")
    ax.set_ylim(lines - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    scale_axis(ax, "x", table[["low_seconds", "median_seconds", "high_seconds"]].to_numpy().ravel())
    ax.set_xlabel("time per plan (s)")
    ax.set_title("time per plan: median (10 % to 90 % quantile)", fontsize=10.5)
    ax.grid(axis="x", color="0.9", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def _draw_row(ax: Axes, y: int, look: Look, row: Any) -> None:
    low, median, high = row.low_seconds, row.median_seconds, row.high_seconds
    ax.plot([low, high], [y, y], color=look.colour, linewidth=2.2, solid_capstyle="butt", zorder=2)
    ax.plot(median, y, color=look.colour, marker=look.marker, markersize=6.0, zorder=3)
    written = f"{_time(median)} ({_time(low)} to {_time(high)}), {counted(row.plans, row.plans, 'plan')}"
    ax.text(1.02, y, written, transform=ax.get_yaxis_transform(), fontsize=8, va="center")


def _time(seconds: float) -> str:
    """Three digits with the unit that suits."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 0.9995:
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 999.5 else f"{seconds * factor:.0f} {unit}"
    return f"{seconds * 1e6:.3g} µs"
