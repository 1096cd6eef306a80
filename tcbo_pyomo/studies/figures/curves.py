"""Median curves with quantile bands over the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.studies.figures.figure_data import SERIES
from tcbo_pyomo.studies.figures.labels import counted
from tcbo_pyomo.studies.figures.series import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOW, HIGH = 0.1, 0.9
FEW = 4
"""Up to so many bands have a normal fill; more of them are fainter."""
MARKS = 9
"""Markers along a curve with a value per move."""


@dataclass(frozen=True)
class Progress:
    """Rows with the column `at`: how far the run was.

    Attributes
    ----------
    rows
        All moves, or the last move of each episode.
    title
        What `at` counts.
    """

    rows: pd.DataFrame
    title: str
    by_episode: bool


def progress(rows: pd.DataFrame) -> Progress:
    """By episodes where there are several, at their ends; by moves otherwise, or where episodes are not comparable."""
    horizon = rows.groupby(SERIES)["step"].transform("max")
    if rows["episode"].max() > 1 and horizon.nunique() == 1:
        ends = rows[rows["step"] == horizon]
        title = f"episode ({counted(1, int(horizon.iloc[0]), 'move').removeprefix('1 to ')} each)"
        return Progress(ends.assign(at=ends["episode"]), title, True)
    return Progress(rows.assign(at=rows["move"]), "move", False)


def quantiles(grouped: pd.api.typing.SeriesGroupBy) -> pd.DataFrame:
    """Columns low, median and high of a quantity, one row per group."""
    return pd.DataFrame({"low": grouped.quantile(LOW), "median": grouped.median(), "high": grouped.quantile(HIGH)})


def draw_curves(
    ax: Axes, parts: Sequence[tuple[pd.DataFrame, Look, str]], column: str, steps: bool = False
) -> tuple[list[Any], Array]:
    """Every part (its rows, look and name) with its band; what stands for them in the legend, and all numbers drawn.

    With `steps` a value holds until the next one.
    """
    post: Any = "post" if steps else None
    lines, numbers = [], []
    for number, (rows, look, name) in enumerate(parts):
        curve = quantiles(rows.groupby("at")[column])
        at = curve.index.to_numpy(dtype=float)
        shape: dict[str, Any] = {"drawstyle": "steps-post" if steps else "default", "linestyle": look.line}
        if rows["seed"].nunique() > 1:
            style: dict[str, Any] = {"color": look.colour, "zorder": 2}
            alpha = 0.14 if len(parts) <= FEW else 0.06
            ax.fill_between(at, curve["low"], curve["high"], step=post, alpha=alpha, linewidth=0, **style)
            for edge in ("low", "high"):
                # Thin edges: overlapping fills alone are hard to distinguish.
                ax.plot(at, curve[edge], linewidth=0.5, alpha=0.6, label="_edge", **shape, **style)
        shape |= {"marker": look.marker, "markersize": 4.5, "markevery": marked(len(at), number, len(parts))}
        lines += ax.plot(at, curve["median"], color=look.colour, label=name, linewidth=1.7, zorder=4, **shape)
        numbers.append(curve.to_numpy().ravel())
    return lines, np.concatenate(numbers)


def marked(length: int, number: int, of: int) -> tuple[int, int]:
    """First and distance of the markers of a series: those of others stand at other moves, or one would hide the other."""
    every = max(1, round(length / MARKS))
    return round(number * every / of) % every, every


def seeds_words(rows: pd.DataFrame) -> str:
    """How many seeds each series has."""
    each = rows.groupby(SERIES)["seed"].nunique()
    return counted(int(each.min()), int(each.max()), "seed")


def band_words(rows: pd.DataFrame) -> str:
    """What lines and bands show."""
    several = rows.groupby(SERIES)["seed"].nunique().max() > 1
    return f"median and 10–90 % band of {seeds_words(rows)}" if several else seeds_words(rows)
