"""Where figures are drawn: on axes of the caller's, or on a new figure; and legends below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def legend_below(ax: Axes, own_figure: bool, **style: Any) -> None:
    """A legend under a figure of our own, or under the axes that were given."""
    handles, labels = ax.get_legend_handles_labels()
    if own_figure:
        figure_of(ax).legend(handles, labels, loc="outside lower center", **style)
    else:
        ax.legend(handles, labels, **BELOW_AXES, **style)


def name_axes(ax: Axes, titles: list[str]) -> None:
    """Titles of one or two coordinates as people write them; room around what is drawn, and no frame."""
    ax.set_xlabel(titles[0].replace("_", " "))
    if len(titles) > 1:
        ax.set_ylabel(titles[1].replace("_", " "))
    else:
        ax.set_yticks([])
    # Much of what matters happens on the edges.
    ax.use_sticky_edges = False
    ax.margins(0.05)
    ax.spines[["top", "right"]].set_visible(False)
