"""The robustness table: `python table.py FOLDER` reads the studies that `run.py FOLDER` made and prints Markdown with verdicts.

Final regrets as shares of the range of the true function; below 0.5 % they count as 0.5 %. A row passes when its median is at
most twice (nothing given) or three times (a wrong belief) that of the right kernel kept as it is, and, with nothing given, at
most 5 % of its runs end above ten times that. The rows of `botorch_in_the_box.py` are printed as well, without a verdict.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from tcbo_pyomo.studies.study_tables import read_tables

RANGES = {
    "knorr_plain": 0.3625,
    "lake_ypacarai": 0.6462,
    "branin2d": 5.9235,
    "hartmann3d": 3.8628,
    "levy4d": 0.3075,
    "michalewicz2d": 0.6754,
    "snar": 2.6374,
    "thermal_reactor": 0.7905,
}
"""Largest minus smallest true value; an idle axis does not change it."""
SMALLEST = 0.005
RIGHT, NOTHING, RIVAL = "right kernel", "nothing given", "BoTorch in the box"
ALLOWED = {NOTHING: 2.0}
WRONG_ALLOWED, STUCK, STUCK_SHARE = 3.0, 10.0, 0.05
COLUMNS = "belief | runs | median at half | median | worst | times right | above 10 x | verdict"


def main(folder: Path) -> int:
    """Print the table of every system; the number of rows that fail."""
    places = [path for path in sorted(folder.iterdir()) if (path / "runs.csv").exists()]
    if not places:
        print(f"no study in {folder}; run `python run.py {folder}` first")
        return 1
    tables = [read_tables(place).runs for place in places]
    beside = folder / "botorch.csv"
    runs = pd.concat([*tables, pd.read_csv(beside)] if beside.exists() else tables)
    failed = 0
    for (problem, feedback), table in runs.groupby(["problem", "feedback"], sort=True):
        scale = RANGES[str(problem).removesuffix("_idle_axis")]
        ends = {name: _shares(rows, scale, 1.0) for name, rows in table.groupby("method", sort=False)}
        halves = {name: _shares(rows, scale, 0.5) for name, rows in table.groupby("method", sort=False)}
        print(f"\n| {problem}, {feedback} | {COLUMNS.partition('|')[2].strip()} |\n|---|---|---|---|---|---|---|---|")
        right = ends[RIGHT].median() if RIGHT in ends else float("nan")
        for name, regrets in ends.items():
            times, stuck = regrets.median() / right, float((regrets > STUCK * right).mean())
            verdict = _verdict(str(name), times, stuck)
            failed += verdict == "**fails**"
            cells = [len(regrets), f"{halves[name].median():.2%}", f"{regrets.median():.2%}", f"{regrets.max():.2%}"]
            print("| " + " | ".join(map(str, [name, *cells, f"{times:.2g}", f"{stuck:.0%}", verdict])) + " |")
    print(f"\n{failed} rows fail")
    return failed


def _shares(rows: pd.DataFrame, scale: float, share: float) -> pd.Series:
    """Regret of every run after a share of the budget, as a share of the range."""
    at = rows[rows["move"] == int(share * rows["move"].max())]
    return (at["regret"] / scale).clip(lower=SMALLEST)


def _verdict(name: str, times: float, stuck: float) -> str:
    if name in (RIGHT, RIVAL):
        return "the measure" if name == RIGHT else "for comparison"
    if times != times:
        return "no right kernel to compare with"
    kept = times <= ALLOWED.get(name, WRONG_ALLOWED) and (name != NOTHING or stuck <= STUCK_SHARE)
    return "passes" if kept else "**fails**"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
