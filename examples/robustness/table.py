"""The robustness table: `python table.py FOLDER` reads the studies that `run.py FOLDER` made and prints Markdown with verdicts.

Final regrets as shares of the range of the true function; below 0.5 % they count as 0.5 %. A row passes when its median is at
most twice (nothing given) or three times (a wrong belief) that of the right kernel kept as it is, and, with nothing given, at
most 5 % of its runs end above ten times that. The rows of `botorch_in_the_box.py` are printed as well, without a verdict.

`python table.py FOLDER README.md` writes the short form, times the right kernel by belief and system, into the README.
`python table.py FOLDER --small TARGET` keeps what the tables are made of; runs that TARGET has and FOLDER has not stay.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tcbo_pyomo.studies.shipped_tables import keep_small, keep_table, table_of, written

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
HERE = Path(__file__).parent
TOURNAMENT = HERE.parent / "tournament" / "small_results"
THERE = ("synchronous", "asynchronous", "thermal")
"""Its default has the right kernel and keeps it: the same runs, which need not be made again."""
RIGHT, NOTHING, RIVAL = "right kernel", "nothing given", "BoTorch in the box"
ALLOWED = {NOTHING: 2.0}
WRONG_ALLOWED, STUCK, STUCK_SHARE = 3.0, 10.0, 0.05
COLUMNS = "belief | runs | median at half | median | worst | times right | above 10 x | verdict"
FEEDBACK = {"immediate": "results at once", "late": "late results"}
"""The two short tables. Late: at the end of an episode on finite plants, 25 moves late (thermal_reactor: 5) on the others."""


@dataclass(frozen=True)
class Row:
    """What one belief came to on a system."""

    belief: str
    halves: pd.Series
    ends: pd.Series
    right: float
    """Median final regret of the right kernel."""

    @property
    def times(self) -> float:
        """Median final regret against that of the right kernel."""
        return float(self.ends.median() / self.right)

    @property
    def stuck(self) -> float:
        """Share of the runs that end above ten times the right kernel's median."""
        return float((self.ends > STUCK * self.right).mean())

    @property
    def verdict(self) -> str:
        """Whether the row holds."""
        if self.belief in (RIGHT, RIVAL):
            return "the measure" if self.belief == RIGHT else "for comparison"
        if self.times != self.times:
            return "no right kernel to compare with"
        most = ALLOWED.get(self.belief, WRONG_ALLOWED)
        kept = self.times <= most and (self.belief != NOTHING or self.stuck <= STUCK_SHARE)
        return "passes" if kept else "**fails**"

    def cells(self) -> list[str]:
        """As in the long table."""
        shares = [f"{self.halves.median():.2%}", f"{self.ends.median():.2%}", f"{self.ends.max():.2%}"]
        return [self.belief, str(len(self.ends)), *shares, f"{self.times:.2g}", f"{self.stuck:.0%}", self.verdict]

    def short(self) -> str:
        """As in the table of the README."""
        if self.belief == RIGHT:
            return f"{self.ends.median():.2%} ({self.ends.max():.2%})"
        stuck = f" ({self.stuck:.0%})" if self.stuck >= 0.01 else " (< 1%)" if self.stuck else ""
        return f"**{self.times:.2g}**{stuck}" if "fails" in self.verdict else f"{self.times:.2g}{stuck}"


def systems(folder: Path) -> dict[tuple[str, str], list[Row]]:
    """The rows of every system, which is a problem with a kind of feedback."""
    places = sorted(folder.iterdir()) if folder.is_dir() else []
    tables = [table for place in places if (table := table_of(place, "runs")) is not None]
    beside = table_of(folder, "botorch")
    if not tables:
        return {}
    runs = pd.concat(tables if beside is None else [*tables, beside])
    runs = pd.concat([runs, *_right_kernel(runs)])
    found = {}
    for (problem, feedback), table in runs.groupby(["problem", "feedback"], sort=True):
        scale = RANGES[str(problem).removesuffix("_idle_axis")]
        shares = {
            str(name): [_shares(rows, scale, moment) for moment in (0.5, 1.0)]
            for name, rows in table.groupby("method", sort=False)
        }
        right = shares[RIGHT][1].median() if RIGHT in shares else float("nan")
        order = sorted(shares, key=lambda name: (name != RIGHT, name == RIVAL, name == NOTHING))
        found[str(problem), str(feedback)] = [Row(name, *shares[name], right) for name in order]
    return found


def _right_kernel(runs: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The right kernel as the tournament has run it, on systems and with seeds of these runs that lack it."""
    has = {(problem, feedback): set(table["method"]) for (problem, feedback), table in runs.groupby(["problem", "feedback"])}
    for study in THERE:
        there = table_of(TOURNAMENT / study, "runs")
        if there is None:
            continue
        for system, table in there[there["method"] == "default"].groupby(["problem", "feedback"]):
            if RIGHT not in has.get(system, {RIGHT}):
                mine = runs[(runs["problem"] == system[0]) & (runs["feedback"] == system[1])]
                yield table[table["seed"].isin(mine["seed"])].assign(method=RIGHT)


def main(folder: Path, *options: str) -> int:
    """Print the table of every system, write the short form into a README, or keep the small tables; how many rows fail."""
    if options[:1] == ("--small",):
        _keep(folder, Path(options[1]))
        return 0
    found = systems(folder)
    if not found:
        print(f"no study in {folder}; run `python run.py {folder}` first")
        return 1
    failed = sum("fails" in row.verdict for rows in found.values() for row in rows)
    if options:
        readme = Path(options[0])
        text = readme.read_text(encoding="utf-8")
        for name, block in blocks(found):
            text = written(text, name, block)
        readme.write_text(text, encoding="utf-8")
        return failed
    for (problem, feedback), rows in found.items():
        print(f"\n| {problem}, {feedback} | {COLUMNS.partition('|')[2].strip()} |" + "\n" + "|---" * 8 + "|")
        for row in rows:
            print(f"| {' | '.join(row.cells())} |")
    print(f"\n{failed} rows fail")
    return failed


def blocks(found: dict[tuple[str, str], list[Row]]) -> Iterator[tuple[str, str]]:
    """The short tables: a row for each belief, a column for each system."""
    for name, title in FEEDBACK.items():
        mine = {problem: rows for (problem, kind), rows in found.items() if (kind == "immediate") == (name == "immediate")}
        if not mine:
            continue
        beliefs = list(dict.fromkeys(row.belief for rows in mine.values() for row in rows))
        beliefs.sort(key=lambda belief: (belief == RIVAL, belief == NOTHING))
        lines = [f"| {title} | runs | {' | '.join(mine)} |", "|---" * (2 + len(mine)) + "|"]
        for belief in beliefs:
            rows = [next((row for row in system if row.belief == belief), None) for system in mine.values()]
            numbers = sorted({len(row.ends) for row in rows if row})
            runs = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
            lines.append(f"| {belief} | {runs} | {' | '.join(row.short() if row else '' for row in rows)} |")
        yield name, "\n".join(lines)


def _keep(folder: Path, target: Path) -> None:
    for place in sorted(folder.iterdir()):
        keep_small(place, target / place.name, _moments, digits=4)
    if (rival := table_of(folder, "botorch")) is not None:
        keep_table(rival.assign(setting=""), target, "botorch", digits=4)


def _moments(rows: pd.DataFrame) -> list[int]:
    return [int(share * rows["move"].max()) for share in (0.5, 1.0)]


def _shares(rows: pd.DataFrame, scale: float, share: float) -> pd.Series:
    """Regret of every run after a share of the budget, as a share of the range."""
    at = rows[rows["move"] == int(share * rows["move"].max())]
    return (at["regret"] / scale).clip(lower=SMALLEST)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), *sys.argv[2:])
