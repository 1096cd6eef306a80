"""The finite systems at one glance: `python figure.py FOLDER [STUDY ...]` draws figures/finite.png.

One panel for each system: mean regret of every method in percent of the range of the truth against the share of the budget.
"""

from __future__ import annotations

import sys
from math import ceil
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from finite import KNOWN, System, systems

COLUMNS = 4
LEAST = 0.01
"""Percent: smaller means are drawn here, since the axis is logarithmic."""
LOOKS = [("#332288", "-"), ("#E69F00", "--"), ("#117733", "-."), ("#CC6677", ":"), ("#88CCEE", "-"), ("#882255", "--")]
"""Colours that the colour-blind can distinguish, and line styles for a print in grey."""


def main(folder: Path, studies: list[str], target: Path) -> None:
    """Draw all systems whose truth is known."""
    found = [system for system in systems(folder, studies) if system.kind == KNOWN]
    rows = ceil(len(found) / COLUMNS)
    figure, axes = plt.subplots(rows, COLUMNS, figsize=(3.2 * COLUMNS, 2.5 * rows), sharey=True, squeeze=False)
    for ax in axes.flat[len(found) :]:
        ax.remove()
    for ax, system in zip(axes.flat, found, strict=False):
        _panel(ax, system)
    for ax in axes[:, 0]:
        ax.set_ylabel("mean regret (% of range)")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.03 + 0.02 / rows, 1, 1))
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=110)


def _panel(ax: plt.Axes, system: System) -> None:
    whole = int(system.runs["move"].max())
    for number, method in enumerate(system.methods):
        colour, line = LOOKS[number % len(LOOKS)]
        mean = system.runs[system.runs["method"] == method].groupby("move")["regret"].mean().clip(lower=LEAST)
        weight = 2.2 if method == "default" else 1.0
        look = {"color": colour, "linestyle": line, "linewidth": weight, "zorder": 2 + weight}
        ax.semilogy(100.0 * mean.index / whole, mean, label=method, **look)
    seeds = system.runs["seed"].nunique()
    ax.set_title(f"{system.name}, {seeds} seeds", fontsize=8.5)
    ax.set_xlabel("share of the budget (%)", fontsize=8.5)
    ax.grid(alpha=0.3)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:], Path(__file__).with_name("figures") / "finite.png")
