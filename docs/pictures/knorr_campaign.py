"""The picture of the README: a campaign on the Knorr reactor, move by move. Run: python docs/pictures/knorr_campaign.py

Left the path of the present episode, which can only go to the right; right what the campaign knows: candidates are
orange, states that are ruled out are grey. Results come after each move.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from tcbo_pyomo import Campaign, load_problem, settings_from

HERE = Path(__file__).parent
EPISODES, LAST_PAUSE = 3, 14
PATH, OLD, CANDIDATE, GREY = "#332288", "#88AACC", "#E69F00", "0.82"
PALE = LinearSegmentedColormap.from_list("pale", ["1.0", "0.6"])


def moves_of_a_campaign() -> tuple[list[dict], np.ndarray, np.ndarray]:
    """For every move: the paths so far, the candidates, the recommendation; with the states and their true values."""
    problem = load_problem("knorr_pyrazole", feedback="immediate")
    chosen = {"planner": {"linear": {"solver": "dynamic_programming"}}, "episodes": EPISODES}
    campaign = Campaign(problem, settings_from(dict(problem.settings), chosen), seed=3)
    generator = np.random.default_rng(3)
    frames, paths = [], []
    while not campaign.finished:
        move = campaign.ask()
        if move.step == 1:
            paths.append([problem.start_state])
        campaign.tell(move.number, float(problem.truth[move.expected] + 0.01 * generator.normal()))
        paths[-1].append(move.expected)
        frames.append(
            {
                "paths": [list(path) for path in paths],
                "candidates": np.array(campaign.candidates),
                "recommendation": campaign.recommendation,
                "title": f"episode {move.episode} of {EPISODES}, move {move.step} of {problem.horizon}",
            }
        )
    return frames, problem.process.states, problem.truth


def animation() -> FuncAnimation:
    """The animation, one picture per move."""
    frames, states, truth = moves_of_a_campaign()
    matplotlib.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(8.4, 3.7), dpi=90)
    FigureCanvasAgg(figure)
    figure.subplots_adjust(0.075, 0.15, 0.99, 0.91, wspace=0.06)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)

    def draw(index: int) -> list:
        frame = frames[min(index, len(frames) - 1)]
        for ax in (left, right):
            ax.clear()
            ax.set_xlabel("residence time (min): can only grow")
        left.set_ylabel("ratio of the feeds")
        left.contourf(*_grid(states, truth), levels=14, cmap=PALE)
        for path in frame["paths"][:-1]:
            left.plot(*states[path].T, color=OLD, linewidth=1.5)
        left.plot(*states[frame["paths"][-1]].T, color=PATH, linewidth=2.4, marker="o", markersize=4.5)
        left.set_title(frame["title"], fontsize=10.5)
        possible = np.zeros(len(states), dtype=bool)
        possible[frame["candidates"]] = True
        right.scatter(*states[~possible].T, s=30, color=GREY)
        right.scatter(*states[possible].T, s=46, color=CANDIDATE, edgecolors="black", linewidths=0.5)
        best = states[frame["recommendation"]]
        right.scatter(*best, s=190, facecolors="none", edgecolors="black", linewidths=1.6)
        right.set_title(f"{possible.sum()} candidates of {len(states)} states (ring: recommended)", fontsize=10.5)
        right.set(xlim=(-2.0, 42.0), ylim=(-0.06, 1.06))
        right.tick_params(labelleft=False)
        return []

    return FuncAnimation(figure, draw, frames=len(frames) + LAST_PAUSE, interval=350)


def _grid(states: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first, second = (np.unique(column) for column in states.T)
    return first, second, truth.reshape(len(first), len(second)).T


if __name__ == "__main__":
    animation().save(HERE / "knorr_campaign.gif", writer=PillowWriter(fps=3))
