"""A lake of 10^5 places, planned move by move: how large a plant may be.

    python large_lake.py                          the whole example: 317 x 317 places, 5 episodes of 200 moves
    python large_lake.py --side 50 --horizon 40 --episodes 2

A boat looks for the strongest contamination on a fine grid. In one move it goes to one of the eight places around it or
stays; two islands and a pier are in the way, and after its last move it must be back at the port. Three choices make
this size possible, all of them settings or a few lines of the user's own:

- `dynamic_programming`: a plan is one backward pass over 900,000 moves x 200 steps, and no linear programme;
- `nystroem` features: the belief is a 10^5 x 128 factor, where the exact kernel matrix would take 80 GB;
- one candidate per cell of 8 x 8 places: neighbours 1/316 of the lake apart cannot be told apart, and need not be.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np

from tcbo_pyomo import (
    Box,
    Campaign,
    Circle,
    EndAt,
    ForbiddenRegion,
    Problem,
    SquaredExponential,
    grid_process,
    settings_from,
)
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant

CELL = 8
NOISE_VARIANCE = 0.01


class OnePerCell:
    """Credible band, thinned: of the candidates in each cell of the grid the one with the largest upper bound."""

    plant = "finite"

    def __init__(self, width: float) -> None:
        self.width = width

    @classmethod
    def from_settings(cls, settings):
        """With the width of the settings, which is the problem's own unless they say otherwise."""
        return cls(settings.width)

    def __call__(self, belief, space, generator, share_spent):
        """Indices of the states that may be the maximum."""
        spread = self.width * belief.standard_deviation
        upper = belief.mean + spread
        band = np.flatnonzero((upper >= (belief.mean - spread)[space].max()) & space)
        side = round(len(upper) ** 0.5)
        cell = (band // side // CELL) * side + band % side // CELL
        best_last = np.lexsort((upper[band], cell))
        return np.sort(band[best_last[np.flatnonzero(np.diff(cell[best_last], append=-1))]])


def contamination(points):
    """The black box at n x 2 points of the unit square: three sources of different strength."""
    sources = ((0.75, 0.30, 1.0), (0.25, 0.70, 0.95), (0.30, 0.20, 0.6))
    return sum(s * np.exp(-((points[:, 0] - x) ** 2 + (points[:, 1] - y) ** 2) / 0.05) for x, y, s in sources)


def large_lake(side: int, horizon: int, episodes: int) -> Problem:
    """side x side places of the unit square; the port is in the middle."""
    axis = np.linspace(0.0, 1.0, side)
    moves = {"x": [-1, 0, 1], "y": [-1, 0, 1]}
    port = {"x": float(axis[side // 2]), "y": float(axis[side // 2])}
    process = grid_process({"x": axis, "y": axis}, moves, NOISE_VARIANCE)
    islands = Circle({"x": 0.62, "y": 0.42}, 0.05), Circle({"x": 0.40, "y": 0.60}, 0.04)
    pier = Box({"x": (0.45, 0.47), "y": (0.30, 0.52)})
    return Problem(
        name="large_lake",
        process=process,
        start=port,
        horizon=horizon,
        episodes=episodes,
        kernel=SquaredExponential(0.25, 0.2),
        constraints=(*(ForbiddenRegion(region) for region in (*islands, pier)), EndAt(port)),
        truth=contamination(process.states),
        confidence_width=2.0,
        settings={
            "surrogate": {"features": "nystroem", "number": 128},
            "planner": {"linear": {"solver": "dynamic_programming"}},
            "candidates": {"rule": "large_lake:OnePerCell"},
        },
        output="contamination",
    )


def main() -> None:
    """Run the campaign and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=317)
    parser.add_argument("--horizon", type=int, default=200)
    parser.add_argument("--episodes", type=int, default=5)
    arguments = parser.parse_args()
    began = time.perf_counter()
    problem = large_lake(arguments.side, arguments.horizon, arguments.episodes)
    campaign = Campaign(problem, settings_from(dict(problem.settings)), seed=1)
    plant = SimulatedPlant(problem, campaign.seed)
    process = problem.process
    places = f"{process.number_of_states:,} places ({int(problem.search_space.sum()):,} in reach)"
    print(f"{places}, {process.number_of_pairs:,} moves; built in {time.perf_counter() - began:.1f} s", flush=True)

    plans = []
    while not campaign.finished:
        began = time.perf_counter(), time.process_time()
        move = campaign.ask()
        plans.append((time.perf_counter() - began[0], time.process_time() - began[1]))
        campaign.arrive(move.number, plant.make(move))
        campaign.tell(move.number, plant.measure(move))
        if move.step == problem.horizon:
            print(
                f"episode {move.episode}: recommends {_text(problem.describe(campaign.recommendation))}, "
                f"regret {problem.regret(campaign.recommendation):.4f}, {len(campaign.candidates)} candidates left, "
                f"back at the port: {move.arrived == problem.start_state}, {_peak():.2f} GB",
                flush=True,
            )
    for clock, seconds in zip(("by the clock", "of one processor"), np.array(plans).T, strict=True):
        first, median, longest = seconds[0], float(np.median(seconds)), seconds.max()
        print(f"{len(plans)} plans: first {first:.2f} s, median {median:.2f} s, longest {longest:.2f} s {clock}")
    print(f"peak memory {_peak():.2f} GB")


def _text(point: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.3f}" for name, value in point.items())


def _peak() -> float:
    """Most memory this process has held, in GB; the system counts in kB, macOS in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e9 if sys.platform == "darwin" else 1e6)


if __name__ == "__main__":
    main()
