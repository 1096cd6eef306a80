"""What not knowing the state of a plant costs: `python study.py [SEEDS [RESULTS.CSV [WORKERS]]]`

The plant is the tank cascade of the library, except that both of its tanks answer 10 % faster (or slower) than the model
that plans: the rates 1/TIME_1 and 1/TIME_2 are multiplied by 1.1 (or 0.9). A campaign learns of a move only its yield, or
also one or both temperatures, `tell --at`. What is not measured is as the model expects it. All campaigns of a seed meet the
same noise.

A finished campaign is judged twice: by the yield at the temperatures that it recommends, and by the yield that the plant gives
when the recommended moves are made. Rows are added to a table, and a run that was stopped goes on.
"""

from __future__ import annotations

import csv
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from scipy.linalg import expm
from scipy.stats import t

from tcbo_pyomo import Campaign
from tcbo_pyomo.library import tank_cascade

MEASURED = {
    "both temperatures": ("first_tank", "second_tank"),
    "first tank": ("first_tank",),
    "second tank": ("second_tank",),
    "nothing": (),
}
"""What `tell --at` says of a move; the first row is the one that the others are compared with."""
FACTORS = (1.1, 0.9)
"""Rates of the plant over those of the model."""
COLUMNS = ["factor", "measured", "seed", "regret_of_place", "regret_of_moves", "largest_error", "outside"]
NAMES = [c.name for c in tank_cascade.COORDINATES]


class Plant:
    """Two real tanks: the temperatures in degrees C after each step of heating."""

    def __init__(self, factor: float) -> None:
        first, second = factor / tank_cascade.TIME_1, factor / tank_cascade.TIME_2
        rates = np.array([[-first, 0.0, 0.5 * tank_cascade.AUTHORITY * first], [second, -second, 0.0], [0.0] * 3])
        self._step = expm(rates * tank_cascade.STEP)
        self.restart()

    def restart(self) -> None:
        """Back to the start of an episode."""
        self.temperatures = np.array([30.0, 30.0])

    def heat(self, heating: float) -> np.ndarray:
        """One step; where the tanks are after it."""
        now = np.array([*(self.temperatures - 60.0) / 80.0, heating])
        self.temperatures = 60.0 + 80.0 * (self._step @ now)[:2]
        return self.temperatures

    def product(self) -> float:
        """The yield now."""
        return float(tank_cascade.product(self.temperatures[None])[0])


def campaign_on(factor: float, measured: tuple[str, ...], seed: int) -> dict[str, float]:
    """A campaign on the real tanks: both regrets, the largest error of the model's temperatures, and steps outside the box."""
    problem = tank_cascade.build()
    campaign, plant, generator = Campaign(problem, seed=seed), Plant(factor), np.random.default_rng([seed, 19])
    errors, outside = [], 0
    while not campaign.finished:
        move = campaign.ask()
        real = plant.heat(move.decision[0])
        value = plant.product() + problem.noise**0.5 * generator.standard_normal()
        # The limits hold for the model. A thermometer that shows more than the end of its scale is read as the end.
        read = np.clip(real, 20.0, 100.0)
        outside += int((read != real).any())
        at = {name: float(v) for name, v in zip(NAMES, read, strict=True) if name in measured}
        campaign.tell(move.number, value, at or None)
        believed = problem.describe(campaign.history.moves[-1].arrived)
        errors.append(max(abs(believed[name] - v) for name, v in zip(NAMES, real, strict=True)))
    plant.restart()
    for step in campaign.route:
        plant.heat(step["actions"]["heating"])
    return {
        "regret_of_place": problem.regret(campaign.recommendation),
        "regret_of_moves": problem.maximum - plant.product(),
        "largest_error": max(errors),
        "outside": outside,
    }


def run(seeds: int, path: Path, workers: int) -> None:
    """All campaigns that the table does not have yet, several at a time; rows are in the same order however many."""
    known = {(row["factor"], row["measured"], row["seed"]) for row in rows_of(path)}
    if not path.exists():
        path.write_text(",".join(COLUMNS) + "\n")
    everything = [(factor, name, seed) for factor in FACTORS for seed in range(1, seeds + 1) for name in MEASURED]
    missing = [row for row in everything if (str(row[0]), row[1], str(row[2])) not in known]
    with ProcessPoolExecutor(workers) as pool:
        for row, found in zip(missing, pool.map(row_of, missing), strict=True):
            with path.open("a", newline="") as file:
                csv.writer(file).writerow([*row, *(f"{found[column]:.6g}" for column in COLUMNS[3:])])


def row_of(row: tuple[float, str, int]) -> dict[str, float]:
    """What one row of the table has to say."""
    factor, name, seed = row
    return campaign_on(factor, MEASURED[name], seed)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The table as it is now."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def interval(values: np.ndarray) -> tuple[float, float]:
    """Mean and half width of Student's 95 % interval."""
    return float(values.mean()), float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5)


def table(path: Path) -> None:
    """Print means, and paired differences to the campaigns that know both temperatures."""
    rows = rows_of(path)
    for factor in FACTORS:
        found: dict[str, dict[str, dict[str, str]]] = {name: {} for name in MEASURED}
        for row in rows:
            if row["factor"] == str(factor):
                found[row["measured"]][row["seed"]] = row
        seeds = sorted(set.intersection(*(set(of_arm) for of_arm in found.values())), key=int)
        if len(seeds) < 2:
            continue
        print(f"rates of the plant x {factor}, {len(seeds)} seeds")
        for judged in ("regret_of_place", "regret_of_moves"):
            print(f"  {judged}")
            known = np.array([float(found["both temperatures"][seed][judged]) for seed in seeds])
            for name, of_arm in found.items():
                values = np.array([float(of_arm[seed][judged]) for seed in seeds])
                mean, half = interval(values - known)
                error = np.mean([float(of_arm[seed]["largest_error"]) for seed in seeds])
                averages = (
                    f"mean {values.mean():.4f}, median {np.median(values):.4f}, difference {mean:+.4f} ± {half:.4f}"
                )
                print(f"    {name:18s} {averages}, model off by up to {error:.1f} K")


if __name__ == "__main__":
    RESULTS = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("results.csv")
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 30, RESULTS, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    table(RESULTS)
