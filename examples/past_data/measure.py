"""What 40 past experiments save: regret of a campaign that starts from them, and of one that does not.

    python examples/past_data/measure.py knorr_pyrazole 1 100
    python examples/past_data/measure.py branin2d 1 30

Every seed has its own 40 past experiments: places drawn at random in the whole search space ("scattered"), or in a corner of it
where every input is in the lower half of its range ("corner"), measured with the noise of the plant. The campaign itself is the
same. "given" is the problem's own kernel, "range" a loose range of the output and nothing else, from which the model learns.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tcbo_pyomo import Campaign, Settings, load_problem, settings_from
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.foundation.coordinates import physical

ROWS = 40
MOVES = 10
RANGES = {"knorr_pyrazole": (0.0, 0.6), "branin2d": (-6.0, 2.0)}
STREAM = 20
"""Past experiments have a random stream of their own."""


def past_rows(problem: Any, seed: int, where: str) -> list[dict[str, float]]:
    """Past experiments of a seed."""
    generator = np.random.default_rng([seed, STREAM])
    names = [coordinate.name for coordinate in problem.coordinates]
    upper = 0.5 if where == "scattered" else 0.0
    if hasattr(problem, "process"):
        inside = (problem.process.scaled_states <= upper).all(axis=1) & problem.search_space
        states = generator.choice(np.flatnonzero(inside), ROWS)
        places, truth = problem.process.states[states], problem.truth[states]
    else:
        places = physical(problem.coordinates, generator.uniform(-0.5, upper, (ROWS, len(names))))
        truth = problem.true_values(places)
    measured = truth + generator.normal(0.0, problem.typical_noise**0.5, ROWS)
    rows = zip(places, measured, strict=True)
    return [{**dict(zip(names, place, strict=True)), problem.output: value} for place, value in rows]


def regrets(name: str, seed: int, where: str, belief: str) -> list[float]:
    """Before the first move (of what the past experiments recommend), and after each of the first ones."""
    problem = load_problem(name, None, seed)
    own: dict[str, Any] = {"surrogate": {"prior": {"range": RANGES[name]}}} if belief == "range" else {}
    settings: Settings = settings_from(dict(problem.settings), own)
    data = None if where == "none" else past_rows(problem, seed, where)
    campaign = Campaign(problem, settings, seed, data)
    before = campaign.problem.regret(campaign.recommendation)
    simulation, found = Simulation(campaign), [float(before or 0.0)]
    while len(simulation.steps) < MOVES:
        simulation._make_move()
    return found + [float(step.regret or 0.0) for step in simulation.steps]


def main(name: str, first: int, last: int) -> None:
    """One line per belief and kind of past."""
    print(f"{name}, seeds {first} to {last}: regret before the first move and after {MOVES} moves, median (mean; largest)")
    for belief in ("given", "range"):
        for where in ("none", "scattered", "corner"):
            table = np.array([regrets(name, seed, where, belief) for seed in range(first, last + 1)])
            texts = [f"{np.median(c):.4f} ({c.mean():.4f}; {c.max():.4f})" for c in (table[:, 0], table[:, -1])]
            best = (table[:, -1] <= 1e-9).mean()
            print(f"{belief:6} past {where:10} {texts[0]:26} {texts[1]:26} {best:.0%} at the maximum", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
