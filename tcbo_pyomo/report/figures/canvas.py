"""Where figures are drawn: on axes of the caller's, or on a new figure; and legends below them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.foundation.wording import spaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}
"""No versions and no dates: equal figures give equal bytes."""
BELOW_AXES: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12)}


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure of this size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").subplots() if ax is None else ax


def figure_of(drawn: Axes | Figure) -> Figure:
    """The whole figure that holds what was drawn."""
    from matplotlib.figure import Figure

    while not isinstance(drawn, Figure):
        drawn = drawn.figure  # type: ignore[assignment]
    return drawn


def panel_grid(
    number: int, columns: int, panel: tuple[float, float], margin: tuple[float, float] = (0.0, 0.0), **shared: Any
) -> tuple[Figure, Any]:
    """A new figure and its axes for panels of this size in inches, row by row; places that stay empty show nothing."""
    from matplotlib.figure import Figure

    rows = -(-number // columns)
    size = (max(margin[0] + panel[0] * columns, 6.4), margin[1] + panel[1] * rows)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **shared).ravel()
    for ax in axes[number:]:
        ax.set_axis_off()
    return figure, axes


def coordinate_pairs(dimension: int) -> list[tuple[int, int]]:
    """Up to four coordinates every pair has a panel; beyond that neighbours only, or nothing could be read."""
    return list(combinations(range(dimension), 2)) if dimension <= 4 else [(i, i + 1) for i in range(dimension - 1)]


def pair_panels(dimension: int) -> list[Axes]:
    """Axes of a new figure, one for each pair of coordinates; one panel at least."""
    number = len(coordinate_pairs(dimension))
    if number <= 1:
        return [axes_or_new(None, (7.2, 6.0) if number else (7.2, 4.6))]
    _, axes = panel_grid(number, 2, (4.4, 3.8))  # Three side by side are too small to read on a page.
    for spare in axes[number:]:
        spare.remove()
    return list(axes[:number])


def saved(draw: Callable[[], Axes | Figure], style: Any, dpi: int, kinds: Iterable[str] = METADATA) -> dict[str, bytes]:
    """What was drawn in a style, as bytes by the kind of file."""
    import matplotlib

    files = {}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # A label may have characters that the font has not.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = figure_of(draw())
        for kind in kinds:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=dpi, metadata=METADATA[kind])
            files[kind] = buffer.getvalue()
    return files


def legend_below(ax: Axes, own_figure: bool, **style: Any) -> None:
    """A legend under a figure of our own, or under the axes that were given."""
    handles, labels = ax.get_legend_handles_labels()
    if own_figure:
        figure_of(ax).legend(handles, labels, loc="outside lower center", **style)
    else:
        ax.legend(handles, labels, **BELOW_AXES, **style)


def name_axes(ax: Axes, titles: list[str]) -> None:
    """Titles of one or two coordinates as people write them; room around what is drawn, and no frame."""
    ax.set_xlabel(spaced(titles[0]))
    if len(titles) > 1:
        ax.set_ylabel(spaced(titles[1]))
    else:
        ax.set_yticks([])
    # Much of what matters happens on the edges.
    ax.use_sticky_edges = False
    ax.margins(0.05)
    ax.spines[["top", "right"]].set_visible(False)
