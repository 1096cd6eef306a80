"""Every coordinate over the moves: the paths of one seed where a landscape cannot be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.studies.figures.axes import series_legend, tidy, whole_numbers
from tcbo_pyomo.studies.figures.curves import marked
from tcbo_pyomo.studies.figures.labels import heading, plain
from tcbo_pyomo.studies.figures.path_data import Walk, walks_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def traces_figure(
    paths: pd.DataFrame, problem: str, feedback: str, seed: int | None = None, titles: Sequence[str] | None = None
) -> Figure:
    """One panel per coordinate and one line per series; `titles` name the coordinates with their units."""
    from matplotlib.figure import Figure

    taken, walks = walks_of(paths, problem, feedback, seed)
    dimension = walks[0].episodes[0].shape[1]
    names = list(titles or (f"coordinate {number}" for number in range(1, dimension + 1)))
    figure = Figure(figsize=(7.2, 1.4 + 1.5 * dimension), layout="constrained")
    axes = figure.subplots(dimension, 1, squeeze=False, sharex=True).ravel()
    lines = []
    for number, walk in enumerate(walks):
        move, places = _joined(walk)
        for ax, values in zip(axes, places.T, strict=True):
            (line,) = ax.plot(
                move, values, color=walk.series.look.colour, linestyle=walk.series.look.line, linewidth=1.3,
                marker=walk.series.look.marker, markersize=4.0, label=walk.series.name,
                markevery=marked(len(move), number, len(walks)),
            )  # fmt: skip
        lines.append(line)
    for ax, name in zip(axes, names, strict=True):
        ax.set_ylabel(plain(name.replace("_", " ")), fontsize=9)
        tidy(ax)
    axes[-1].set_xlabel("move")
    whole_numbers(axes[-1])
    figure.suptitle(f"{heading(problem, feedback)}: path of seed {taken}, each coordinate", fontsize=10.5)
    figure.align_ylabels(axes)
    series_legend(figure, lines)
    return figure


def _joined(walk: Walk) -> tuple[Array, Array]:
    """Moves and places of all episodes one after the other, with a gap where the plant is put back to the start."""
    moves: list[Array] = []
    places: list[Array] = []
    made = 0
    for episode in walk.episodes:
        moves += [made + np.arange(float(len(episode))), np.array([np.nan])]
        places += [episode, np.full((1, episode.shape[1]), np.nan)]
        made += len(episode) - 1
    return np.concatenate(moves)[:-1], np.concatenate(places)[:-1]
