"""What it is worth that crowds of alike rows count as one: `python crowds.py YOUR.csv FOLDER [SEEDS]` runs and prints a table.

The plants are those of `catechol.py`. For every seed a black box is drawn from the prior, which the model knows. The default is
run twice on each: as it is, and with every row counted for itself. Regrets are percent of the range of the drawn function.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from catechol import write_plants

from tcbo_pyomo import load_problem, run_campaign, settings_from
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.studies.execution import with_drawn_truth

KINDS = ("episodic", "immediate")
FAST = {"linear": {"solver": "dynamic_programming"}}
"""The same plans as a linear programme, in a fraction of the time."""
FEWEST_STATES = 20
"""Where an episode can reach no more than that, little is left to plan."""


def main(table: Path, folder: Path, seeds: str = "1..100") -> None:
    """Print mean regrets at half of the budget and at its end, both ways, and their difference with its 95 % interval."""
    first, last = map(int, seeds.split(".."))
    print("| functions drawn on | half of the budget: as one, each | end: as one, each | difference at the end |")
    print("|---|---|---|---|")
    every = []
    for file in write_plants(table, folder):
        for kind in KINDS:
            plant = load_problem(str(file), kind, first)
            if np.count_nonzero(plant.places) < FEWEST_STATES:
                continue
            found = np.array([both_ways(plant, kind, seed) for seed in range(first, last + 1)])
            every.append(found)
            print(f"| {file.stem}, {kind} | {row(found)} |", flush=True)
    print(f"| **all** | {row(np.concatenate(every))} |")


def both_ways(plant: Problem, kind: str, seed: int) -> list[list[float]]:
    """Regret after each of the two episodes, crowds counted as one and row by row."""
    drawn = with_drawn_truth(plant, seed)
    settings = settings_from({"feedback": {"kind": kind}, "surrogate": {"fit": "never"}, "planner": FAST})
    range_of_truth = float(np.ptp(drawn.truth[drawn.search_space]))
    found = []
    for shares in (drawn.place_shares, drawn.places.astype(float)):
        vars(drawn)["place_shares"] = shares
        episodes = run_campaign(drawn, settings, seed).episodes
        found.append([100.0 * episode.regret / range_of_truth for episode in episodes])
    return found


def row(found: np.ndarray) -> str:
    """Means of n campaigns (n x 2 ways x 2 episodes), and the paired difference at the end."""
    one, each = found.mean(axis=0)
    gap = found[:, 0, -1] - found[:, 1, -1]
    half = 1.96 * gap.std(ddof=1) / np.sqrt(len(gap))
    return f"{one[0]:.2f}, {each[0]:.2f} | {one[-1]:.2f}, {each[-1]:.2f} | {gap.mean():+.2f} ± {half:.2f}"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:4])
