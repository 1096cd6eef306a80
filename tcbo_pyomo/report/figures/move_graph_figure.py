"""The move graph: where the plant can go from each state, what the rules removed, and where it can never be."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.report.figures.canvas import axes_or_new, legend_below, name_axes
from tcbo_pyomo.report.figures.path_drawing import plane
from tcbo_pyomo.report.figures.region_outlines import draw_region

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MOVES = 4000
"""With more moves than this only those that leave the start are drawn: the others would cover the paper."""
GAP = 0.014
"""Between the head of an arrow and its state, as a share of the picture."""
ALLOWED_COLOUR, REMOVED_COLOUR, START_COLOUR, END_COLOUR = "#4477AA", "#CC6677", "#117733", "#E69F00"


@singledispatch
def move_graph_figure(problem: ProblemProtocol, ax: Axes | None = None) -> Axes:
    """Draw the states and moves of a finite problem on its first two coordinates.

    Parameters
    ----------
    problem
        A finite problem; its rules decide which moves are drawn as allowed and which as removed.
    ax
        Axes to draw on. Default: a new figure.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    raise BadInput(f"problem '{problem.name}' is continuous: it has no finite set of moves to draw")


@move_graph_figure.register(Problem)
def _(problem: Problem, ax: Axes | None = None) -> Axes:
    own, ax = ax is None, axes_or_new(ax, (7.2, 6.4))
    process = problem.process
    points = plane(process.states)
    drawn = np.ones(process.number_of_pairs, dtype=bool)
    if process.transitions.nnz > MOST_MOVES:
        drawn = process.pair_state == problem.start_state
    allowed = problem.sets.allowed_pairs
    kept = _distinct_moves(problem, drawn & allowed)
    # Where the way back is allowed, its arrow tells that this way is not: a second line would hide the first.
    gone = {(a, b) for a, b in _distinct_moves(problem, drawn & ~allowed) - kept if (b, a) not in kept}
    _draw_moves(ax, points, gone, f"moves removed by the rules ({len(gone)})", REMOVED_COLOUR, zorder=2)
    _draw_moves(ax, points, kept, f"moves allowed ({len(kept)})", ALLOWED_COLOUR, zorder=1)
    for rule in problem.rules:
        for region in rule.regions:
            draw_region(ax, region, problem.coordinates)
    _draw_states(ax, problem, points)
    _describe(ax, problem, bool(drawn.all()))
    legend_below(ax, own, ncols=3, fontsize=8, frameon=False)
    return ax


def _distinct_moves(problem: Problem, pairs: Mask) -> set[tuple[int, int]]:
    """(from, to) of every outcome of some pairs, staying left out."""
    process = problem.process
    entries = pairs[process.transition_pair]
    left = process.pair_state[process.transition_pair[entries]].tolist()
    right = process.transitions.indices[entries].tolist()
    return {(a, b) for a, b in zip(left, right, strict=True) if a != b}


def _draw_moves(ax: Axes, points: Array, moves: set[tuple[int, int]], label: str, colour: str, zorder: int) -> None:
    """Lines for moves that exist both ways, arrows for those that exist one way only."""
    from matplotlib.collections import LineCollection

    if not moves:
        return
    style: dict[str, Any] = {"color": colour, "zorder": zorder}
    both = [(a, b) for a, b in sorted(moves) if a < b and (b, a) in moves]
    one_way = np.array([(a, b) for a, b in sorted(moves) if (b, a) not in moves], dtype=int).reshape(-1, 2)
    ax.add_collection(LineCollection([points[[a, b]] for a, b in both], linewidths=0.9, **style), autolim=False)
    # Each arrow ends a little before the state it points to, so that its head is seen.
    origin, step = points[one_way[:, 0]], points[one_way[:, 1]] - points[one_way[:, 0]]
    extent = np.ptp(points, axis=0)
    length = np.linalg.norm(step / np.where(extent > 0, extent, 1.0), axis=1, keepdims=True)
    step = step * np.maximum(1.0 - GAP / length, 0.5)
    scale: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.0022, "headwidth": 4.5}
    ax.quiver(*origin.T, *step.T, headlength=5.5, headaxislength=5.0, **scale, **style)
    ax.plot([], [], color=colour, linewidth=1.2, label=label)


def _draw_states(ax: Axes, problem: Problem, points: Array) -> None:
    """States by what an episode can do there: visit, end, or nothing."""

    def mark(states: Mask, label: str, **style: Any) -> None:
        if states.any():
            ax.scatter(points[states, 0], points[states, 1], label=f"{label} ({int(states.sum())})", **style)

    visited, ends = problem.search_space, problem.sets.safe[-1]
    start = np.arange(len(points)) == problem.start_state
    mark(visited, "states", s=16, color="black", linewidths=0, zorder=4)
    mark(~visited, "never visited", s=26, facecolors="white", edgecolors=REMOVED_COLOUR, linewidths=1.2, zorder=4)
    if ends.sum() < (visited | ends).sum() // 2:
        mark(ends, "end", marker="D", s=42, color=END_COLOUR, edgecolors="black", linewidths=0.8, zorder=5)
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": START_COLOUR, "linewidths": 2.0}
    ax.scatter(points[start, 0], points[start, 1], marker="s", s=130, zorder=6, label="start", **ring)


def _describe(ax: Axes, problem: Problem, all_moves: bool) -> None:
    name_axes(ax, [coordinate.title for coordinate in problem.coordinates[:2]])
    shown = "" if all_moves else ", those that leave the start"
    plane = "" if len(problem.coordinates) <= 2 else f" (first 2 of {len(problem.coordinates)} coordinates)"
    ax.set_title(f"{problem.name}: moves of one step{shown}{plane}", fontsize=11)
    ax.margins(0.06)
