"""Solve times: how long one plan takes, as a table and as dots with their values written beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from tcbo_pyomo.studies.figures.axes import scale_axis
from tcbo_pyomo.studies.figures.curves import HIGH, LOW
from tcbo_pyomo.studies.figures.series import series_of
from tcbo_pyomo.studies.figures.tables import SERIES, checked
from tcbo_pyomo.studies.figures.wording import heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS = ["problem", "feedback", *SERIES]


def solve_time_table(timings: pd.DataFrame) -> pd.DataFrame:
    """Seconds per plan of each problem, feedback, method and grid point: number of plans, 10 %, median, 90 %."""
    rows = checked(timings, "timings", (*KEYS, "seconds")).dropna(subset="seconds")
    if rows.empty:
        checked(rows, "timings", KEYS)  # says that there are none
    grouped = rows.groupby(KEYS, sort=False)["seconds"]
    table = pd.DataFrame(
        {
            "plans": grouped.size(),
            "low_seconds": grouped.quantile(LOW),
            "median_seconds": grouped.median(),
            "high_seconds": grouped.quantile(HIGH),
        }
    )
    return table.reset_index()


def solve_time_figure(timings: pd.DataFrame) -> Figure:
    """A dot at the median and a line from the 10 % to the 90 % quantile; rows in groups by problem and feedback."""
    from matplotlib.figure import Figure

    table = solve_time_table(timings)
    looks = {(s.method, s.setting): s for s in series_of(table, table)}
    groups = [(heading(*key), part) for key, part in table.groupby(["problem", "feedback"], sort=False)]
    lines = len(table) + len(groups)
    figure = Figure(figsize=(8.2, 1.4 + 0.27 * lines), layout="constrained")
    ax = figure.subplots()
    labels: list[str] = []
    for title, part in groups:
        labels.append(title)
        for row in part.itertuples():
            y = len(labels)
            series = looks[(str(row.method), str(row.setting))]
            low, median, high = row.low_seconds, row.median_seconds, row.high_seconds
            ax.plot([low, high], [y, y], color=series.look.colour, linewidth=2.2, solid_capstyle="butt", zorder=2)
            ax.plot(median, y, color=series.look.colour, marker=series.look.marker, markersize=6.0, zorder=3)
            written = f"{_time(median)} ({_time(low)} to {_time(high)}), {row.plans} plans"
            ax.text(1.02, y, written, transform=ax.get_yaxis_transform(), fontsize=8, va="center")
            labels.append(series.name)
    ax.set_yticks(range(lines), labels, fontsize=8)
    titles = {title for title, _ in groups}
    for text in ax.get_yticklabels():
        text.set_fontweight("bold" if text.get_text() in titles else "normal")
    ax.set_ylim(lines - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    scale_axis(ax, "x", table[["low_seconds", "median_seconds", "high_seconds"]].to_numpy().ravel())
    ax.set_xlabel("time per plan (s)")
    ax.set_title("Time per plan: median (10 % to 90 % quantile)", fontsize=10.5)
    ax.grid(axis="x", color="0.9", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _time(seconds: float) -> str:
    """Three digits with the unit that suits."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 0.9995:
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 999.5 else f"{seconds * factor:.0f} {unit}"
    return f"{seconds * 1e6:.3g} µs"
