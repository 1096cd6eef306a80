"""Identification bars: the share of runs whose recommendation is the true maximum (the bars of the paper's section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tcbo_pyomo.report.figures.canvas import axes_or_new, figure_of
from tcbo_pyomo.studies.figures.axes import series_legend, tidy
from tcbo_pyomo.studies.figures.curves import Progress, progress, seeds_words
from tcbo_pyomo.studies.figures.figure_data import SERIES, known_runs
from tcbo_pyomo.studies.figures.labels import heading, plain
from tcbo_pyomo.studies.figures.series import Series, series_of
from tcbo_pyomo.studies.statistics import SHARES, wilson_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_GROUPS = 10


def identification_figure(
    runs: pd.DataFrame, problem: str, feedback: str, ax: Axes | None = None, best: str = "maximum"
) -> Axes:
    """Grouped bars with 95 % Wilson intervals, per episode, or at quarters of the moves where there is one episode.

    They are drawn on `ax`, or on a new figure; the axes are returned. `best` is what was sought, in words.
    """
    table, rows = known_runs(runs, problem, feedback, "identified")
    along = _at_quarters(rows, progress(rows))
    groups = _groups(along.rows["at"])
    shown = series_of(along.rows, table)
    inches = min(7.2 + 0.1 * max(0, len(groups) * len(shown) - 30), 14.0)
    own, ax = ax is None, axes_or_new(ax, (inches, 4.6))
    width = 0.84 / len(shown)
    bars = []
    for number, series in enumerate(shown):
        place = np.arange(len(groups)) + (number - (len(shown) - 1) / 2) * width
        share, low, high = shares(along.rows, series, groups)
        bars.append(
            ax.bar(
                place, share, 0.92 * width, label=series.name, color=series.look.colour, hatch=series.look.hatch,
                edgecolor="white", linewidth=0.0, zorder=2,
            )
        )  # fmt: skip
        reach = np.array([share - low, high - share]).clip(0.0)
        ax.errorbar(place, share, yerr=reach, fmt="none", ecolor="0.25", elinewidth=1.0, capsize=2.0, zorder=3)
        # A share of zero has no bar: a marker tells whose it is.
        none = share == 0.0
        style: Any = {"facecolor": series.look.colour, "edgecolor": "white", "linewidth": 0.7, "clip_on": False}
        ax.scatter(place[none], share[none], marker=series.look.marker, s=36, zorder=4, **style)
    ax.set_xticks(np.arange(len(groups)), [f"{group:g}{'' if along.by_episode else ' %'}" for group in groups])
    ax.set(xlabel=along.title, ylabel=f"runs that identified the {plain(best)} (%)", ylim=(0.0, 103.0))
    words = f"share of {seeds_words(rows)}, 95 % Wilson intervals"
    ax.set_title(f"{heading(problem, feedback)}: identification\n{words}", fontsize=10.5)
    tidy(ax)
    series_legend(figure_of(ax) if own else ax, bars)
    return ax


def shares(rows: pd.DataFrame, series: Series, groups: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Share of runs that identified the maximum, and the ends of its interval, in per cent; NaN without runs."""
    counts = series.rows(rows).groupby("at")["identified"].agg(["sum", "size"]).reindex(groups, fill_value=0).astype(int)
    found = [(hits / runs, *wilson_interval(hits, runs)) if runs else (np.nan,) * 3 for hits, runs in counts.to_numpy()]
    share, low, high = 100.0 * np.array(found).T
    return share, low, high


def _at_quarters(rows: pd.DataFrame, along: Progress) -> Progress:
    """Runs by moves, looked at after a quarter, a half, three quarters and all of their moves."""
    if along.by_episode:
        return along
    total = rows.groupby(SERIES)["move"].transform("max")
    looks = [rows[rows["move"] == np.ceil(share * total)].assign(at=100 * share) for share in SHARES]
    number = f" (of {total.max():g})" if total.nunique() == 1 else ""
    return Progress(pd.concat(looks), f"share of the moves made{number}", False)


def _groups(at: pd.Series) -> list[float]:
    """All of them, or some that are evenly spread and end with the last."""
    groups = sorted(at.unique())
    return [groups[i] for i in np.linspace(0, len(groups) - 1, min(len(groups), MOST_GROUPS)).round().astype(int)]
