"""The tables of the tournament: `python table.py FOLDER [STUDY ...]` reads the studies in FOLDER and prints Markdown.

`python table.py FOLDER finite` prints those of the finite systems, as shares of the range of the truth (`finite.py`).
Each study file of this folder is run with `tcbo study FILE.yaml --output FOLDER/NAME`. Differences are regrets of the default
minus those of the other method on the same seeds, with Student's 95 % interval: below zero the default is better.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import ceil
from pathlib import Path

import finite
import pandas as pd

from tcbo_pyomo.studies.statistics import difference
from tcbo_pyomo.studies.study_tables import read_tables

STUDIES = ("synchronous", "asynchronous", "thermal", "obstacles")
DEFAULT = "default"
SHARES = (0.25, 0.5, 0.75, 1.0)
TITLES = "25 % | 50 % | 75 % | 100 % | default minus it at 50 % | at 100 % | per plan"


def main(folder: Path, studies: list[str]) -> None:
    """Print every table, then on how many systems the default is better, equal or worse, and how often its mean is lower."""
    if studies[:1] == ["finite"]:
        finite.print_tables(folder, studies[1:])
        return
    verdicts: dict[float, dict[str, dict[str, list[str]]]] = {0.5: {}, 1.0: {}}
    for name in studies or STUDIES:
        if (folder / name / "runs.csv").exists():
            tables = read_tables(folder / name)
            for line in _study(tables.runs, tables.timings, verdicts):
                print(line)
    for share, found in verdicts.items():
        titles = "better | no difference | worse | mean regret lower on"
        print(f"\n| default against, after {share:.0%} of the budget | {titles} |\n|---|---|---|---|---|")
        for method, counts in found.items():
            better, equal, worse, lower = (counts.get(key, []) for key in ("better", "equal", "worse", "lower"))
            systems = len(better) + len(equal) + len(worse)
            cells = [len(better), len(equal), f"{len(worse)} {_listed(worse)}".rstrip(), f"{len(lower)} of {systems}"]
            print(f"| {method} | {' | '.join(str(cell) for cell in cells)} |")


def _listed(places: list[str]) -> str:
    return f"({', '.join(places)})" if places else ""


def _study(
    runs: pd.DataFrame, timings: pd.DataFrame, verdicts: dict[float, dict[str, dict[str, list[str]]]]
) -> Iterator[str]:
    for (problem, feedback), table in runs.groupby(["problem", "feedback"], sort=False):
        total = int(table["move"].max())
        moves = [ceil(share * total) for share in SHARES]
        plans = timings[(timings["problem"] == problem) & (timings["feedback"] == feedback)]
        seconds = plans.groupby("method")["seconds"].median()
        of = {method: rows for method, rows in table.groupby("method", sort=False)}
        known = table["identified"].notna().any()
        yield f"\n| {problem}, {feedback}, {table['seed'].nunique()} seeds | {TITLES} |"
        yield "|---" * 8 + "|"
        for method, rows in of.items():
            cells = [f"{_at(rows, move)['regret'].median():.2g}" for move in moves]
            last = _at(rows, moves[-1])
            if known:
                cells[-1] += f" / {last['identified'].astype(bool).mean():.0%}"
            else:
                low, high = last["regret"].quantile([0.1, 0.9])
                cells[-1] += f" ({low:.2g} to {high:.2g})"
            gaps = []
            for share, move in zip(SHARES, moves, strict=True):
                if method == DEFAULT or share not in verdicts:
                    continue
                text, found = _compared(_at(of[DEFAULT], move), _at(rows, move))
                for verdict in found:
                    verdicts[share].setdefault(method, {}).setdefault(verdict, []).append(f"{problem} {feedback}")
                gaps.append(text)
            yield f"| {method} | {' | '.join([*cells, *(gaps or ['', ''])])} | {_duration(seconds[method])} |"


def _at(rows: pd.DataFrame, move: int) -> pd.DataFrame:
    return rows[rows["move"] == move]


def _compared(default: pd.DataFrame, other: pd.DataFrame) -> tuple[str, list[str]]:
    """The difference as text; whether it is better, equal or worse, and "lower" where the mean is."""
    found = difference(default, other)
    half = found["difference_high"] - found["difference_mean"]
    verdict = "better" if found["difference_high"] < 0 else "worse" if found["difference_low"] > 0 else "equal"
    mark = {"better": "**", "worse": "_", "equal": ""}[verdict]
    lower = ["lower"] if found["difference_mean"] < 0 else []
    return f"{mark}{found['difference_mean']:+.2g} ± {half:.2g}{mark}", [verdict, *lower]


def _duration(seconds: float) -> str:
    if seconds >= 1.0:
        return f"{seconds:.2g} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.01 else f"{seconds * 1e3:.2g} ms"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), sys.argv[2:])
