"""What the figures share: scales, legends and the look of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tcbo_pyomo.report.figures.canvas import BELOW_AXES, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure

DECADES = 6
"""What lies further below the largest value is rounding, not regret: it is drawn next to zero."""
LETTER, HANDLE = 0.068, 0.6
"""Width in inches of a letter of the legend, and of its line with the gap to the next column."""

LEGEND: dict[str, Any] = {"fontsize": 8, "frameon": False, "handlelength": 3.2, "labelspacing": 0.7}


def scale_axis(ax: Axes, which: Literal["x", "y"], values: ArrayLike, zero: str = "0") -> str:
    """Logarithmic where positive values span more than a decade, with `zero` as a tick of its own if it occurs.

    Returns what the axis has to say about its scale: nothing, or where it turns linear towards zero.
    """
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    positive = numbers[numbers > 0]
    along_x = which == "x"
    axis, set_limits = (ax.xaxis, ax.set_xlim) if along_x else (ax.yaxis, ax.set_ylim)
    set_scale: Any = ax.set_xscale if along_x else ax.set_yscale
    if not len(positive) or positive.max() <= 10.0 * positive.min():
        span = max(float(np.ptp([0.0, *numbers])), 1e-12)
        set_limits(min(0.0, float(numbers.min())) - 0.03 * span, max(0.0, float(numbers.max())) + 0.06 * span)
        return ""
    smallest, largest = max(positive.min(), positive.max() * 10.0**-DECADES), positive.max()
    if numbers.min() >= smallest:
        set_scale("log")
        set_limits(smallest / 1.4, largest * 1.4)
        _set_ticks(axis, decade_ticks(smallest / 1.4, largest * 1.4))
        return ""
    decade = 10.0 ** np.floor(np.log10(smallest))
    floor = float(f"{max(m * decade for m in (1, 2, 5) if m * decade <= smallest * (1 + 1e-9)):g}")
    set_scale("symlog", linthresh=floor, linscale=0.6)
    set_limits(min(-0.25 * floor, 1.2 * numbers.min()), largest * 1.6)
    _set_ticks(axis, [0.0, *decade_ticks(floor, largest * 1.6)], zero)
    return f"logarithmic above {floor:g}"


def decade_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers: with 2 and 5 where there are few of them, only some where there are many."""
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    inside = [10.0**p for p in powers if low * (1 - 1e-9) <= 10.0**p <= high]
    if len(inside) > 7:
        return inside[:: -(-len(inside) // 7)]
    if len(inside) > 2:
        return inside
    finer = [float(f"{m * 10.0**p:g}") for p in powers for m in (1, 2, 5)]
    return [tick for tick in finer if low * (1 - 1e-9) <= tick <= high]


def panel_columns(panels: int) -> int:
    """How many panels stand side by side; four make a square."""
    return 2 if panels == 4 else min(panels, 3)


def tidy(ax: Axes) -> None:
    """Light lines to read values from, and no frame."""
    ax.grid(axis="y", color="0.9", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def whole_numbers(ax: Axes) -> None:
    """Ticks for moves and episodes."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10, min_n_ticks=1, steps=[1, 2, 5, 10]))


def series_legend(below: Figure | Axes, drawn: list[Any], note: str | None = None) -> None:
    """A legend below a figure of ours, or below axes that were given, with a note and as many columns as fit."""
    from matplotlib.figure import Figure

    once = {handle.get_label(): handle for handle in drawn}
    names, handles = list(once), list(once.values())
    columns = columns_for(names, figure_of(below).get_figwidth())
    look = LEGEND if note is None else LEGEND | {"title": note, "title_fontsize": 8}
    if isinstance(below, Figure):
        # A long legend makes the figure higher, not the axes lower.
        below.set_figheight(below.get_figheight() + 0.18 * max(0, -(-len(names) // columns) - 2))
        below.legend(handles, names, loc="outside lower center", ncols=columns, **look)
    else:
        below.legend(handles, names, ncols=columns, **BELOW_AXES, **look)


def columns_for(names: Sequence[str], inches: float) -> int:
    """How many columns of a legend fit next to each other."""
    widest = max(len(name) for name in names) * LETTER + HANDLE
    return max(1, min(len(names), int(inches / widest)))


def _set_ticks(axis: XAxis | YAxis, ticks: list[float], zero: str = "0") -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: zero if value == 0 else f"{value:g}"))
