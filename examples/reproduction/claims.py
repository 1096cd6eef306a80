"""The figures behind the claims of the paper: `python claims.py FOLDER` reads the studies in FOLDER and prints Markdown.

Each study file of this folder is run with `tcbo study FILE.yaml --output FOLDER/NAME`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from tcbo_pyomo.studies.statistics import difference, moments
from tcbo_pyomo.studies.study_tables import StudyTables, read_tables

SYNTHETIC = ("branin2d", "hartmann3d", "hartmann6d", "michalewicz2d", "michalewicz3d", "levy4d")


def main(folder: Path) -> None:
    """Print what every study says."""
    for name, rows in (
        ("knorr", episodes),
        ("lake", episodes),
        ("lake_low_noise", episodes),
        ("laser", quarters),
        ("laser", stays),
        ("components", episodes),
        ("components_laser", quarters),
        ("synchronous", quarters),
        ("asynchronous", quarters),
        ("snar", quarters),
        ("g_allocation", quarters),
        ("thompson_count", quarters),
        ("upper_confidence_count", quarters),
        ("upper_confidence_count_asynchronous", quarters),
        ("knorr", solve_times),
        ("lake", solve_times),
        ("laser", solve_times),
    ):
        if (folder / name / "runs.csv").exists():
            print(f"\n### {name}: {rows.__doc__}\n")
            for line in rows(read_tables(folder / name)):
                print(line)


def episodes(tables: StudyTables) -> Iterator[str]:
    """median regret / share of runs that identified the maximum, after some episodes."""
    yield from _table(tables.runs, lambda ends: [ends[i - 1] for i in (1, 2, 3, 5, 10) if i <= len(ends)], "episode")


def quarters(tables: StudyTables) -> Iterator[str]:
    """median regret at quarters of the budget (10 % to 90 % at its end)."""
    yield from _table(tables.runs, lambda ends: ends, "move")


def stays(tables: StudyTables) -> Iterator[str]:
    """share of moves that stay where they are, per method."""
    columns = [name for name in tables.paths if name.startswith("coordinate")]
    yield "| method | moves that stay |"
    yield "|---|---|"
    for method, table in tables.paths.groupby("method", sort=False):
        moved = table.groupby(["seed", "episode"])[columns].diff().abs().sum(axis=1, min_count=len(columns)).dropna()
        yield f"| {method} | {(moved == 0).mean():.0%} |"


def solve_times(tables: StudyTables) -> Iterator[str]:
    """seconds per plan: median (10 % to 90 %)."""
    yield "| problem | feedback | method | seconds |"
    yield "|---|---|---|---|"
    for (problem, feedback, method), table in tables.timings.groupby(["problem", "feedback", "method"], sort=False):
        low, middle, high = table["seconds"].quantile([0.1, 0.5, 0.9])
        yield f"| {problem} | {feedback} | {method} | {middle:.4f} ({low:.4f} to {high:.4f}) |"


def _table(runs: pd.DataFrame, chosen, unit: str) -> Iterator[str]:
    for (problem, feedback), table in runs.groupby(["problem", "feedback"], sort=False):
        ends = chosen(moments(table))
        label = {end: table.loc[table["move"] == end, unit].iloc[0] for end in ends}
        seeds = table["seed"].nunique()
        titles = " | ".join(f"{unit} {label[end]}" for end in ends)
        yield f"| {problem}, {feedback}, {seeds} seeds | {titles} | paired difference to the first at the end, 95 % |"
        yield "|---" * (len(ends) + 2) + "|"
        cases = dict(iter(table.groupby(["method", "setting"], sort=False)))
        first = next(iter(cases.values()))
        for case, of_case in cases.items():
            cells = [_cell(of_case[of_case["move"] == end], end == ends[-1]) for end in ends]
            last = [frame[frame["move"] == ends[-1]] for frame in (of_case, first)]
            yield f"| {', '.join(filter(None, case))} | {' | '.join(cells)} | {_paired(*last, of_case is first)} |"
        yield ""


def _cell(at: pd.DataFrame, spread: bool) -> str:
    regret = at["regret"]
    text = f"{regret.median():.2g}"
    if at["identified"].notna().all():
        return f"{text} / {at['identified'].astype(bool).mean():.0%}"
    low, high = regret.quantile([0.1, 0.9])
    return f"{text} ({low:.2g} to {high:.2g})" if spread else text


def _paired(at: pd.DataFrame, against: pd.DataFrame, same: bool) -> str:
    if same:
        return ""
    found = difference(at, against)
    half = found["difference_high"] - found["difference_mean"]
    return f"{found['difference_mean']:+.2g} ± {half:.2g}, better on {found['better']}, worse on {found['worse']}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
