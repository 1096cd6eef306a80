"""The tables of the finite systems: `python table.py FOLDER finite`, or the names of studies after FOLDER and `finite`.

Regrets are shares of the range of the truth (its largest minus its smallest value among the states that an episode can reach),
in percent, so that systems can be compared and pooled. Differences are regrets of the default minus those of a rival on the
same seeds, with Student's 95 % interval: below zero the default is better. Non-inferior: the upper end is below 1 %.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tcbo_pyomo import load_problem, read_study
from tcbo_pyomo.studies.execution import with_drawn_truth
from tcbo_pyomo.studies.shipped_tables import has_table, table_of
from tcbo_pyomo.studies.statistics import difference, wilson_interval

SYSTEMS = ("discrete", "two_ridges", "unseen_finite", "laser", "unseen_fibre", "wide_beam", "fuel")
DRAWN = ("drawn", "drawn_fuel")
STUDIES = (*SYSTEMS, *DRAWN)
DEFAULT, KNOWN = "default", "known"
MOMENTS = {0.5: "half of the budget", 1.0: "the end of the budget"}
MARGIN = 1.0
"""Percent of the range that the upper end of an interval may reach."""
NORMAL = 1.96
"""95 % of a normal distribution: pooled means have many seeds behind them."""


@dataclass(frozen=True)
class System:
    """A plant with a kind of feedback and a belief: the regrets of all methods in percent of the range, by move."""

    name: str
    kind: str
    runs: pd.DataFrame

    @property
    def methods(self) -> list[str]:
        """In the order of the study."""
        return list(dict.fromkeys(self.runs["method"]))

    def at(self, share: float, method: str) -> pd.DataFrame:
        """The rows of a method after a share of the budget."""
        rows = self.runs[self.runs["method"] == method]
        return rows[rows["move"] == ceil(share * int(self.runs["move"].max()))]

    def compared(self, share: float, method: str) -> tuple[float, float]:
        """Default minus a rival: mean and half of the 95 % interval."""
        found = difference(self.at(share, DEFAULT), self.at(share, method))
        return found["difference_mean"], found["difference_high"] - found["difference_mean"]


def systems(folder: Path, studies: tuple[str, ...] | list[str] = ()) -> Iterator[System]:
    """All systems of the studies in a folder, on the seeds that every method has finished."""
    for study in studies or STUDIES:
        place = folder / study
        if (runs := table_of(place, "runs")) is None:
            continue
        definition = _definition(place)
        sources = {entry["name"] or Path(entry["problem"]).stem: entry["problem"] for entry in definition["problems"]}
        drawn = definition["truth"] == "drawn"
        for (problem, feedback, setting), table in runs.groupby(["problem", "feedback", "setting"], sort=False):
            whole = set.intersection(*(set(rows["seed"]) for _, rows in table.groupby("method")))
            if table["method"].nunique() < len(definition["methods"]) or len(whole) < 2:
                continue  # Not finished yet.
            table = table[table["seed"].isin(whole)].copy()
            table["regret"] *= [100.0 / truth_range(sources[problem], seed, drawn) for seed in table["seed"]]
            belief = setting.removeprefix("surrogate.misbelief.lengthscale=")
            kind = KNOWN if not drawn else f"drawn, lengthscale x {belief}" if belief else "drawn"
            yield System(f"{problem}, {feedback}", kind, table)


def _definition(place: Path) -> dict[str, Any]:
    """What was run: small results have no study.json, but their study file stands here."""
    file = place / "study.json"
    if file.exists():
        return json.loads(file.read_text())["content"]["study"]
    return read_study(Path(__file__).with_name(f"{place.name}.yaml")).model_dump(mode="json")


@cache
def truth_range(source: str, seed: int, drawn: bool) -> float:
    """Largest minus smallest value of the truth among the states that an episode can reach."""
    problem = load_problem(source, None, seed)
    problem = with_drawn_truth(problem, seed) if drawn else problem
    return float(np.ptp(problem.truth[problem.search_space]))


def print_tables(folder: Path, studies: tuple[str, ...] | list[str] = ()) -> None:
    """A table for each moment; of drawn functions what is pooled over the systems, and all of them where studies are named."""
    found = list(systems(folder, studies))
    kinds = {kind: [system for system in found if system.kind == kind] for kind in dict.fromkeys(s.kind for s in found)}
    for kind, mine in kinds.items():
        for share, moment in MOMENTS.items():
            for line in _table(mine, kind, share, moment) if studies or kind == KNOWN else ():
                print(line)
    if not studies and len(kinds) > 1:
        for line in _pooled_table({kind: mine for kind, mine in kinds.items() if kind != KNOWN}):
            print(line)


def blocks(folder: Path) -> Iterator[tuple[str, str]]:
    """The tables of the README: of the systems, where all their studies are there, and pooled over drawn functions."""
    if all(has_table(folder / study, "runs") for study in SYSTEMS):
        known = list(systems(folder, SYSTEMS))
        for share, moment in MOMENTS.items():
            yield f"finite, at {moment}", "\n".join(_table(known, KNOWN, share, moment)).strip()
    if has_table(folder / DRAWN[0], "runs"):
        drawn = list(systems(folder, DRAWN))
        kinds = {kind: [system for system in drawn if system.kind == kind] for kind in dict.fromkeys(s.kind for s in drawn)}
        yield "finite, drawn", "\n".join(_pooled_table(kinds)).strip()


def _pooled_table(kinds: dict[str, list[System]]) -> Iterator[str]:
    rivals = [method for method in next(iter(kinds.values()))[0].methods if method != DEFAULT]
    yield f"\n| pooled over systems | systems x seeds | {' | '.join(rivals)} |"
    yield "|---" * (2 + len(rivals)) + "|"
    for (kind, mine), (share, moment) in product(kinds.items(), MOMENTS.items()):
        cells = [_cell(*_pooled([system.compared(share, rival) for system in mine])) for rival in rivals]
        seeds = min(system.runs["seed"].nunique() for system in mine)
        named = kind if len(mine) > 1 else f"{kind}, {mine[0].name}"
        yield f"| {named}, at {moment} | {len(mine)} x {seeds} | {' | '.join(cells)} |"


def _table(found: list[System], kind: str, share: float, moment: str) -> Iterator[str]:
    rivals = [method for method in found[0].methods if method != DEFAULT]
    yield f"\n| {kind}, at {moment} | seeds | default | {' | '.join(rivals)} |"
    yield "|---" * (3 + len(rivals)) + "|"
    gaps: dict[str, list[tuple[float, float]]] = {rival: [] for rival in rivals}
    for system in found:
        own = system.at(share, DEFAULT)
        for rival in rivals:
            gaps[rival].append(system.compared(share, rival))
        cells = [f"{own['regret'].mean():.2f} / {_identified(own)}"]
        cells += [_cell(*gaps[rival][-1]) for rival in rivals]
        yield f"| {system.name} | {len(own)} | {' | '.join(cells)} |"
    yield f"| **pooled** | | | {' | '.join(_cell(*_pooled(gaps[rival])) for rival in rivals)} |"
    counts = [sum(mean + half < MARGIN for mean, half in gaps[rival]) for rival in rivals]
    yield f"| non-inferior on | | | {' | '.join(f'{count} of {len(found)}' for count in counts)} |"


def _identified(rows: pd.DataFrame) -> str:
    """The share of runs that identified the maximum, with Wilson's 95 % interval."""
    right = rows["identified"].astype(bool)
    low, high = wilson_interval(int(right.sum()), len(right))
    return f"{right.mean():.0%} ({100 * low:.0f} to {100 * high:.0f})"


def _pooled(gaps: list[tuple[float, float]]) -> tuple[float, float]:
    """Every system counts the same."""
    errors = [half / NORMAL for _, half in gaps]
    return float(np.mean([mean for mean, _ in gaps])), NORMAL * sqrt(sum(error**2 for error in errors)) / len(gaps)


def _cell(mean: float, half: float) -> str:
    """Bold where the default is better, italic where it is worse, with ! where it is not shown to be non-inferior."""
    mark = "**" if mean + half < 0.0 else "_" if mean - half > 0.0 else ""
    return f"{mark}{mean:+.2f} ± {half:.2f}{mark}" + ("" if mean + half < MARGIN else " !")
