"""All systems at one glance: `python figure.py FOLDER [STUDY ...]` draws figures/finite.png and figures/continuous.png.

One panel for each system. Finite systems: mean regret of every method in percent of the range of the truth against the share
of the budget. Continuous systems: median regret at quarters of the budget, which small results have, too. A figure is drawn
where FOLDER has studies of its kind, with all moves for the finite one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
import table
from finite import SYSTEMS, System, systems

COLUMNS = 4
LEAST = 0.01
"""Percent: smaller means are drawn here, since the axis is logarithmic."""
LOOKS = [("#332288", "-"), ("#E69F00", "--"), ("#117733", "-."), ("#CC6677", ":"), ("#88CCEE", "-"), ("#882255", "--")]
"""Colours that the colour-blind can distinguish, and line styles for a print in grey."""


def main(folder: Path, studies: list[str], target: Path) -> None:
    """Draw all finite systems whose truth is known, and all continuous ones."""
    target.mkdir(exist_ok=True)
    finite, continuous = (
        [study for study in known if not studies or study in studies] for known in (SYSTEMS, (*table.STUDIES, *table.UNSEEN))
    )
    found = [system for system in (systems(folder, finite) if finite else ()) if _has_all_moves(system)]
    if found:
        _draw(found, _finite_panel, "mean regret (% of range)", target / "finite.png", sharey=True)
    others = list(table.continuous_systems(folder, continuous))
    if others:
        _draw(others, _continuous_panel, "median regret", target / "continuous.png", sharey=False)


def _has_all_moves(system: System) -> bool:
    """Small results have quarters of the budget only."""
    return system.runs["move"].nunique() == system.runs["move"].max()


def _draw(found: Sequence[Any], panel: Callable[[plt.Axes, Any], None], quantity: str, target: Path, sharey: bool) -> None:
    rows = ceil(len(found) / COLUMNS)
    figure, axes = plt.subplots(rows, COLUMNS, figsize=(3.2 * COLUMNS, 2.5 * rows), sharey=sharey, squeeze=False)
    for ax in axes.flat[len(found) :]:
        ax.remove()
    for ax, system in zip(axes.flat, found, strict=False):
        panel(ax, system)
        ax.set_xlabel("share of the budget (%)", fontsize=8.5)
        ax.grid(alpha=0.3)
    for ax in axes[:, 0]:
        ax.set_ylabel(quantity)
    shown = {label: line for ax in figure.axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="lower center", ncols=len(shown), frameon=False)
    figure.tight_layout(rect=(0, 0.03 + 0.02 / rows, 1, 1))
    figure.savefig(target, dpi=110)
    plt.close(figure)


def _finite_panel(ax: plt.Axes, system: System) -> None:
    whole = int(system.runs["move"].max())
    for number, method in enumerate(system.methods):
        mean = system.runs[system.runs["method"] == method].groupby("move")["regret"].mean().clip(lower=LEAST)
        ax.semilogy(100.0 * mean.index / whole, mean, label=method, **_look(number))
    ax.set_title(f"{system.name}, {system.runs['seed'].nunique()} seeds", fontsize=8.5)


def _continuous_panel(ax: plt.Axes, system: tuple[str, pd.DataFrame]) -> None:
    name, runs = system
    moves = table.quarters(runs)
    for number, method in enumerate(table.METHODS):
        mine = runs[(runs["method"] == method) & runs["move"].isin(moves)]
        if len(mine):
            median = mine.groupby("move")["regret"].median()
            ax.semilogy(100.0 * median.index / moves[-1], median, marker="o", markersize=3, label=method, **_look(number))
    ax.set_xticks([100.0 * share for share in table.SHARES])
    ax.set_title(f"{name}, {runs['seed'].nunique()} seeds", fontsize=8.5)


def _look(number: int) -> dict[str, Any]:
    colour, line = LOOKS[number % len(LOOKS)]
    weight = 2.2 if number == 0 else 1.0
    return {"color": colour, "linestyle": line, "linewidth": weight, "zorder": 2 + weight}


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:], Path(__file__).with_name("figures"))
