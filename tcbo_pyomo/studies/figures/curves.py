"""Median curves with quantile bands over the seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tcbo_pyomo.studies.figures.labels import counted
from tcbo_pyomo.studies.figures.series import Look
from tcbo_pyomo.studies.figures.tables import SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOW, HIGH = 0.1, 0.9
FEW = 4
"""Up to so many bands are told apart by their fill; more of them are fainter."""
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


def quantiles(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Columns low, median and high of a quantity over the seeds, indexed by `at`."""
    grouped = rows.groupby("at")[column]
    return pd.DataFrame({"low": grouped.quantile(LOW), "median": grouped.median(), "high": grouped.quantile(HIGH)})


def draw_curve(
    ax: Axes, curve: pd.DataFrame, look: Look, name: str, number: int, of: int, seeds: int, steps: bool = False
) -> Any:
    """One series and its band; returns what stands for it in the legend.

    Parameters
    ----------
    number, of
        The series is number `number`, from 0, of `of`.
    steps
        Whether a value holds until the next one.
    """
    at = curve.index.to_numpy(dtype=float)
    post: Any = "post" if steps else None
    shape: dict[str, Any] = {"drawstyle": "steps-post" if steps else "default", "linestyle": look.line}
    if seeds > 1:
        style: dict[str, Any] = {"color": look.colour, "zorder": 2}
        alpha = 0.14 if of <= FEW else 0.06
        ax.fill_between(at, curve["low"], curve["high"], step=post, alpha=alpha, linewidth=0, **style)
        for edge in ("low", "high"):
            # Thin edges: overlapping fills alone cannot be told apart.
            ax.plot(at, curve[edge], linewidth=0.5, alpha=0.6, label="_edge", **shape, **style)
    every = max(1, round(len(at) / MARKS))
    # Markers of different series stand at different moves, or one would hide the other.
    first = round(number * every / max(of, 1)) % every
    style = {"color": look.colour, "marker": look.marker, "markersize": 4.5, "markevery": (first, every), "zorder": 4}
    (line,) = ax.plot(at, curve["median"], label=name, linewidth=1.7, **shape, **style)
    return line


def drawn_values(curves: list[pd.DataFrame]) -> np.ndarray[Any, Any]:
    """All numbers of some curves, for the scale of their axis."""
    return np.concatenate([curve.to_numpy().ravel() for curve in curves])


def seeds_of(rows: pd.DataFrame) -> int:
    """Number of seeds."""
    return int(rows["seed"].nunique())


def seeds_words(rows: pd.DataFrame) -> str:
    """How many seeds each series has."""
    each = rows.groupby(SERIES)["seed"].nunique()
    return counted(int(each.min()), int(each.max()), "seed")


def band_words(rows: pd.DataFrame) -> str:
    """What lines and bands show."""
    several = rows.groupby(SERIES)["seed"].nunique().max() > 1
    return f"median and 10–90 % band of {seeds_words(rows)}" if several else seeds_words(rows)
