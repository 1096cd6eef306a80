"""The rooms of the package as a drawing, from the contract in pyproject.toml. Run: python docs/pictures/rooms.py"""

from __future__ import annotations

import tomllib
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

HERE = Path(__file__).parent
FLOORS = (
    ("what users touch", ("cli", "studies", "report", "records"), "#CFE3F5"),
    ("looks at campaigns", ("explain", "checks", "library"), "#DDEFD9"),
    ("runs a campaign", ("campaign", "methods", "rehearsal", "knowledge"), "#FBE8C8"),
    ("plans", ("planning", "problem", "solvers"), "#F5D9DC"),
    ("knows", ("candidates", "surrogate", "models", "plant"), "#E6DDF2"),
    ("the base", ("foundation", "settings", "errors"), "#E4E4E4"),
)


def rooms_figure() -> Figure:
    """Floors from top to bottom; a room imports only from rooms to its right and from floors below."""
    figure = Figure(figsize=(7.6, 5.0))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 10), ylim=(0, 6.5))
    ax.set_axis_off()
    for index, (floor, rooms, colour) in enumerate(FLOORS):
        top = 5.45 - index
        ax.text(1.85, top + 0.34, floor, ha="right", va="center", fontsize=10, color="0.35")
        width = 7.8 / len(rooms)
        for column, room in enumerate(rooms):
            box = FancyBboxPatch(
                (2.1 + column * width, top), width - 0.18, 0.68, boxstyle="round,pad=0,rounding_size=0.12",
                facecolor=colour, edgecolor="0.45", linewidth=0.9,
            )
            ax.add_patch(box)
            ax.text(2.1 + column * width + width / 2 - 0.09, top + 0.34, room, ha="center", va="center", fontsize=11)
    style = {"arrowstyle": "-|>", "color": "0.3", "linewidth": 1.4}
    ax.annotate("", (9.97, 0.3), (9.97, 6.2), arrowprops=style)
    ax.text(9.9, 6.32, "imports go down and to the right", ha="right", fontsize=9.5, color="0.3")
    return figure


def contract() -> list[str]:
    """The rooms in the order that import-linter checks, the highest first."""
    settings = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [layer.split(" |")[0] for layer in layers if layer != "__main__"]


if __name__ == "__main__":
    matplotlib.rcParams.update({"svg.hashsalt": "tcbo"})
    rooms_figure().savefig(HERE / "rooms.svg", metadata={"Date": None})
