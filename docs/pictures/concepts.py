"""The pictures of the page "Concepts". Run: python docs/pictures/concepts.py"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tcbo_pyomo import Campaign, load_problem, settings_from

HERE = Path(__file__).parent
BLUE, ROSE, GREEN, ORANGE, GREY = "#332288", "#CC6677", "#117733", "#E69F00", "0.75"
STYLE = {"font.size": 9.5, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "tcbo"}
NOTE: dict[str, Any] = {"arrowprops": {"arrowstyle": "->", "color": "0.3"}, "fontsize": 9}


def episode() -> Figure:
    """States, moves and one episode on a small grid."""
    figure = Figure(figsize=(6.4, 3.3), layout="constrained")
    ax = figure.subplots()
    states = np.array([(x, y) for x in range(0, 24, 4) for y in (50, 60, 70, 80)])
    path = np.array([(0, 60), (4, 60), (8, 70), (12, 80), (16, 80), (20, 70)])
    ax.scatter(*states.T, s=26, color=GREY)
    ax.plot(*path.T, color=BLUE, linewidth=2.2, marker="o", markersize=6)
    ax.scatter(*path[0], marker="s", s=120, facecolors="none", edgecolors="black", linewidths=1.4)
    ax.annotate("start", path[0], (-0.6, 65.0), **NOTE)
    ax.annotate("a state: one pair\nof set-points", (8, 50), (9.4, 52.8), **NOTE)
    ax.annotate("a move: 4 min slower,\n10 K hotter", (10, 75), (2.0, 74.2), **NOTE)
    ax.annotate("the episode ends after\nH = 5 moves (horizon)", path[-1], (14.2, 62.8), **NOTE)
    ax.set(xlabel="residence time (min): can only grow", ylabel="temperature (°C)", xlim=(-1.5, 21.5), ylim=(47, 84))
    ax.set_yticks((50, 60, 70, 80))
    return figure


def candidates() -> Figure:
    """The set of candidates shrinks from episode to episode."""
    figure = Figure(figsize=(8.0, 2.9), layout="constrained")
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    campaign = _campaign()
    states = campaign.problem.process.states
    for ax, measured in zip(axes, (0, 10, 20), strict=True):
        _make_moves(campaign, measured)
        possible = np.isin(np.arange(len(states)), campaign.candidates)
        ax.scatter(*states[~possible].T, s=12, color=GREY)
        ax.scatter(*states[possible].T, s=24, color=ORANGE, edgecolors="black", linewidths=0.4)
        ax.set_title(f"{measured or 'no'} results: {possible.sum()} candidates", fontsize=9.5)
        ax.set_xlabel("residence time (min)")
    axes[0].set_ylabel("ratio of the feeds")
    return figure


def plan() -> Figure:
    """One step ahead against the whole horizon, on a sketch of a lake with two hills."""
    figure = Figure(figsize=(6.8, 3.0), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    x, y = np.meshgrid(np.linspace(0, 10, 80), np.linspace(0, 6, 60))
    hills = np.exp(-((x - 2.2) ** 2 + (y - 4.4) ** 2) / 1.2) + 1.25 * np.exp(-((x - 8.0) ** 2 + (y - 2.0) ** 2) / 2.0)
    near = np.array([(0.6, 1), (1.4, 2.0), (1.9, 3.1), (2.3, 4.0), (2.0, 4.7), (2.6, 4.4), (2.1, 4.1)])
    far = np.array([(0.6, 1), (1.6, 2.3), (2.5, 3.6), (4.0, 3.5), (5.4, 3.0), (6.9, 2.5), (8.1, 2.0)])
    for ax, path, colour, title in zip(
        axes, (near, far), (ROSE, BLUE), ("one step ahead stays on the first hill", "a plan compares both hills"), strict=True
    ):
        ax.contourf(x, y, hills, levels=8, cmap="Greys", vmax=2.4)
        ax.plot(*path.T, color=colour, linewidth=2.0, marker="o", markersize=4.5)
        ax.scatter(*path[0], marker="s", s=80, facecolors="none", edgecolors="black")
        ax.set_title(title, fontsize=9.5)
        ax.set(xticks=(), yticks=())
    return figure


def feedback() -> Figure:
    """When results arrive, for the three kinds of feedback."""
    figure = Figure(figsize=(6.8, 2.5), layout="constrained")
    ax = figure.subplots()
    kinds = {"immediate": lambda move: move, "delayed (by 3 moves)": lambda move: move + 3, "episodic": lambda move: 6}
    for row, (kind, arrives) in enumerate(reversed(kinds.items())):
        for move in range(1, 7):
            ax.plot(move, row + 0.18, "o", color=BLUE, markersize=6)
            end = arrives(move)
            ax.annotate("", (end + 0.12, row - 0.16), (move, row + 0.12), arrowprops={"arrowstyle": "->", "color": "0.45"})
            ax.plot(end + 0.14, row - 0.18, "s", color=ORANGE, markersize=5.5)
        ax.text(0.4, row, kind, ha="right", va="center")
    ax.plot([], [], "o", color=BLUE, label="move and measurement")
    ax.plot([], [], "s", color=ORANGE, label="its result is known")
    ax.axvline(6.5, color="0.7", linestyle="--", linewidth=1)
    ax.text(6.55, 2.45, "end of the episode", fontsize=8.5, color="0.35")
    ax.set(xlim=(0.5, 9.6), ylim=(-0.5, 2.7), yticks=(), xlabel="move")
    ax.spines["left"].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def certificate() -> Figure:
    """The best plan so far and the bound below every plan close in on each other."""
    figure = Figure(figsize=(5.6, 2.9), layout="constrained")
    ax: Axes = figure.subplots()
    campaign = _campaign()
    upper, lower, calls = [], [], []
    for gap in (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01):
        trial = Campaign(campaign.problem, settings_from(_chosen(), {"planner": {"gap": gap}}), seed=1)
        trial.ask()
        proof = trial.method.last_plan.certificate
        upper.append(proof.upper), lower.append(proof.lower), calls.append(proof.oracle_calls)
    ax.plot(calls, upper, color=BLUE, marker="o", label="variance that the plan leaves")
    ax.plot(calls, lower, color=GREEN, marker="s", label="no plan leaves less")
    ax.fill_between(calls, lower, upper, color="0.9")
    ax.set(xlabel="linear programmes solved", ylabel="variance of the difference")
    ax.legend(frameon=False)
    return figure


def _chosen() -> dict[str, Any]:
    return {"planner": {"linear": {"solver": "dynamic_programming"}}, "feedback": {"kind": "immediate"}}


def _campaign() -> Campaign:
    return Campaign(load_problem("knorr_pyrazole", feedback="immediate"), settings_from(_chosen()), seed=3)


def _make_moves(campaign: Campaign, measured: int) -> None:
    """Ask and tell until so many results are in."""
    while len(campaign.experiments()) < measured:
        move = campaign.ask()
        campaign.tell(move.number, float(campaign.problem.truth[move.expected]))


if __name__ == "__main__":
    matplotlib.rcParams.update(STYLE)
    for draw in (episode, candidates, plan, feedback, certificate):
        draw().savefig(HERE / f"{draw.__name__}.svg", metadata={"Date": None})
