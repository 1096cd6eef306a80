"""How time and memory grow: `python tests/benchmarks/growth.py` prints a table, writes growth.json and growth.svg.

One quantity grows at a time. A slope is that of a straight line through log time (or log memory) against log size: 1 is
linear, 2 quadratic, 0 does not grow at all. Memory is the peak of what Python and numpy allocate (tracemalloc).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[2]))

import numpy as np
from machine import described
from nonlinear_replan import Replan

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.knowledge.continuous import representation
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.farthest_pair import farthest_pair
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.features import box_pool, greedy_points, nystroem_features
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

KERNEL = SquaredExponential(1.0, 0.2)
Case = tuple[float, Callable[[], object]]
"""A size, and the work to be measured at this size."""


@dataclass
class Series:
    """One quantity that grows, what was measured at each of its sizes, and what was promised of the slopes."""

    name: str
    grows: str
    promise: str
    sizes: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    time_slope: float = float("nan")
    memory_slope: float = float("nan")

    def measure(self, cases: Iterator[Case], patience: float) -> Series:
        """Time and memory of every case; the median of as many repeats as fit into `patience` seconds."""
        for size, work in cases:
            work()
            taken: list[float] = []
            while len(taken) < 3 or (sum(taken) < patience and len(taken) < 200):
                began = time.perf_counter()
                work()
                taken.append(time.perf_counter() - began)
                if taken[0] > patience:
                    break
            tracemalloc.start()
            work()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            self.sizes.append(size)
            self.seconds.append(float(np.median(taken)))
            self.megabytes.append(peak / 1e6)
        self.time_slope, self.memory_slope = slope(self.sizes, self.seconds), slope(self.sizes, self.megabytes)
        return self

    @property
    def text(self) -> str:
        """One line per size and one for the slopes."""
        points = zip(self.sizes, self.seconds, self.megabytes, strict=True)
        lines = [f"  {size:>9,.0f} {seconds * 1e3:12.3f} ms {memory:10.2f} MB" for size, seconds, memory in points]
        slopes = f"slopes: time {self.time_slope:.2f}, memory {self.memory_slope:.2f}"
        return "\n".join([f"{self.name} against {self.grows}", *lines, f"  {slopes}; {self.promise}"])


def slope(sizes: list[float], values: list[float]) -> float:
    """Of the line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-12)), 1)[0])


def lattice(side: int) -> Process:
    """A grid with nine moves."""
    return grid_process({"x": range(side), "y": range(side)}, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, 1.0)


def induction(process: Process, horizon: int) -> Callable[[], object]:
    """Backward induction over a whole episode."""
    oracle = DynamicProgramming(EpisodeSets(process, (), horizon))
    gradient = -np.random.default_rng(0).random(process.number_of_pairs)
    return lambda: oracle.values(gradient)


def over_horizon(quick: bool) -> Iterator[Case]:
    """Three decades of moves on 1,024 states."""
    process = lattice(32)
    for horizon in (10, 100, 1000) if quick else (10, 32, 100, 316, 1000, 3162, 10_000):
        yield horizon, induction(process, horizon)


def over_states(quick: bool) -> Iterator[Case]:
    """Three decades of states, 50 moves."""
    for side in (10, 32, 100) if quick else (10, 18, 32, 56, 100, 178, 317):
        yield side**2, induction(lattice(side), 50)


def over_candidates(quick: bool) -> Iterator[Case]:
    """The farthest pair among states of a fine grid, after 50 measurements; 32 features."""
    pool = box_pool(2, np.random.default_rng(0))
    inducing = greedy_points(KERNEL, pool, 32)
    for count in (10, 100, 1000) if quick else (10, 100, 1000, 10_000, 100_000):
        rng = np.random.default_rng(1)
        belief = FiniteBelief(np.zeros(count), nystroem_features(KERNEL, inducing, rng.random((count, 2)) - 0.5))
        for row in rng.integers(0, count, 50):
            belief.observe(int(row), None, 0.1)
        yield count, lambda rows=belief.factor: farthest_pair(rows, np.random.default_rng(0))


def over_measurements(quick: bool) -> Iterator[Case]:
    """One more measurement of one of 400 states, and the posterior on all of them."""
    points = lattice(20).scaled_states
    factor = nystroem_features(KERNEL, greedy_points(KERNEL, points, 128), points)
    rng = np.random.default_rng(2)
    for count in (100, 1000) if quick else (100, 316, 1000, 3162, 10_000):
        belief = FiniteBelief(np.zeros(len(points)), factor)
        for row in rng.integers(0, len(points), count):
            belief.observe(int(row), 1.0, 0.1)

        def one_more(belief: FiniteBelief = belief) -> object:
            belief.observe(7, 1.0, 0.1)
            return belief.mean, belief.standard_deviation

        yield count, one_more


def over_continuous_measurements(quick: bool) -> Iterator[Case]:
    """The same on a continuous box, in Nystroem features; posterior at 100 points."""
    for count in (100, 1000) if quick else (100, 1000, 10_000):
        yield count, one_more_after(count, ContinuousBelief(KERNEL, 2, "nystroem"))


def over_budget(quick: bool) -> Iterator[Case]:
    """The last measurement of a continuous campaign with the default settings: exact, then 1,000 features."""
    for budget in (100, 300) if quick else (100, 316, 1000, 3162, 10_000):
        yield budget, one_more_after(budget, ContinuousBelief(KERNEL, 3, *representation("auto", None, budget)))


def one_more_after(count: int, surrogate: ContinuousBelief) -> Callable[[], object]:
    """One measurement after so many, and the posterior at 100 points."""
    rng = np.random.default_rng(3)
    places = rng.random((100, surrogate.dimension)) - 0.5
    for point in rng.random((count, surrogate.dimension)) - 0.5:
        surrogate.observe(point, 1.0, 0.1)

    def one_more() -> object:
        later = surrogate.copy()
        later.observe(places[0], 1.0, 0.1)
        return later.mean(places), later.variance(places)

    return one_more


def over_features(quick: bool) -> Iterator[Case]:
    """One more measurement of as many states as there are features: n = M, the exact case."""
    rng = np.random.default_rng(4)
    for number in (32, 128) if quick else (32, 64, 128, 256, 512, 1024, 2048):
        belief = FiniteBelief(np.zeros(number), rng.random((number, number)) / number)

        def one_more(belief: FiniteBelief = belief) -> object:
            belief.observe(3, 1.0, 0.1)
            return belief.standard_deviation

        yield number, one_more


def over_dimensions(quick: bool) -> Iterator[Case]:
    """One trajectory re-plan by IPOPT: 64 centres, 50 moves."""
    for dimension in (2, 3) if quick else (2, 3, 4, 6, 8, 10):
        replan = Replan(64, dimension, 50)
        yield dimension, lambda replan=replan: replan.compiled_route(1)


def over_components(quick: bool) -> Iterator[Case]:
    """One plan on Knorr that mixes several linearisations; a single one needs no posterior of planned visits."""
    problem = load_problem("knorr_pyrazole", seed=1)
    for number in (2, 4) if quick else (2, 4, 8, 16, 32, 64):
        planner = {"components": number, "linear": {"solver": "dynamic_programming"}}
        campaign = Campaign(problem, settings_from(dict(problem.settings), {"planner": planner}), seed=1)

        def plan(campaign: Campaign = campaign) -> object:
            generator = np.random.default_rng(0)
            utility = campaign.knowledge.utility(generator)
            return campaign.method.planner.plan(utility, Situation((problem.start_state,)), generator)

        yield number, plan


SERIES = (
    ("backward induction", "horizon (1,024 states)", "time at most 1.1", over_horizon),
    ("backward induction", "states (9 moves, H = 50)", "time at most 1.1", over_states),
    ("farthest pair", "candidates (32 features)", "memory at most 1.1: no array of all pairs", over_candidates),
    ("belief update", "past measurements (400 states)", "time 0: independent of them", over_measurements),
    ("belief update", "past measurements (continuous)", "time 0: independent of them", over_continuous_measurements),
    ("belief update", "budget (continuous, defaults)", "time bounded: 0 beyond 1,000", over_budget),
    ("belief update", "features (as many states)", "time at most 2", over_features),
    ("trajectory re-plan", "dimensions (64 centres, H = 50)", "", over_dimensions),
    ("plan", "Frank-Wolfe components (Knorr)", "about 1", over_components),
)


def pruned_columns(side: int = 15, horizon: int = 20) -> dict[str, int]:
    """Columns of a linear programme from a corner and back, against every pair at every step, and counted by hand."""
    process = lattice(side)
    sets = EpisodeSets(process, (EndAt({"x": 0, "y": 0}),), horizon)
    polytope = CompiledPolytope(sets, sets.constraints, Situation((0,)))
    cells = process.states[:, 0].astype(int), process.states[:, 1].astype(int)
    away = np.maximum(*cells)  # Moves from the corner to each state, and back.
    useful = sum(
        int(((away[process.pair_state] <= step) & (away[process.successor] <= horizon - step - 1)).sum())
        for step in range(horizon)
    )
    return {
        "every pair at every step": process.number_of_pairs * horizon,
        "reachable and able to end": useful,
        "columns": len(polytope.programme.columns),
    }


def main() -> None:
    """Measure every series."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only, to see that everything runs")
    parser.add_argument("--output", type=Path, default=Path("growth.json"), help="the figure is written beside it")
    arguments = parser.parse_args()
    found = []
    for name, grows, promise, cases in SERIES:
        series = Series(name, grows, promise).measure(cases(arguments.quick), 0.05 if arguments.quick else 1.0)
        print(series.text, flush=True)
        found.append(series)
    columns = pruned_columns()
    print("columns of the linear programme: " + ", ".join(f"{count:,} {what}" for what, count in columns.items()))
    document = {"machine": described(), "series": [asdict(series) for series in found], "columns": columns}
    arguments.output.write_text(json.dumps(document, indent=2) + "\n")
    draw(found, arguments.output.with_suffix(".svg"))


def draw(found: list[Series], path: Path) -> None:
    """Time and memory of every series, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(3, 3, figsize=(13, 10), layout="constrained")
    for panel, series in zip(panels.ravel(), found, strict=True):
        panel.loglog(series.sizes, np.array(series.seconds) * 1e3, "o-", color="tab:blue", label="time (ms)")
        panel.loglog(series.sizes, series.megabytes, "s--", color="tab:orange", label="memory (MB)")
        panel.set_title(f"{series.name}: time slope {series.time_slope:.2f}", fontsize=10)
        panel.set_xlabel(series.grows)
        if series.sizes[-1] < 100 * series.sizes[0]:
            # Powers of ten are too far apart here, and what stands between them would overlap.
            panel.set_xticks(series.sizes, [f"{size:g}" for size in series.sizes], minor=False)
            panel.set_xticks([], minor=True)
        panel.grid(True, which="major", alpha=0.3)
    panels[0, 0].legend(frameon=False)
    figure.savefig(path)


if __name__ == "__main__":
    main()
