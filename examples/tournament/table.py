"""The tables of the tournament: `python table.py FOLDER [STUDY ...]` reads the studies in FOLDER and prints Markdown.

`python table.py FOLDER finite` prints those of the finite systems, as shares of the range of the truth (`finite.py`).
Each study file of this folder is run with `tcbo study FILE.yaml --output FOLDER/NAME`. Differences are regrets of the default
minus those of the other method on the same seeds, with Student's 95 % interval: below zero the default is better.

`python table.py FOLDER README.md` writes the tables that FOLDER has into the README; the finite ones need all their systems.
`python table.py FOLDER --small TARGET` keeps what they are made of; runs that TARGET has and FOLDER has not stay.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import finite
import pandas as pd

from tcbo_pyomo.studies.shipped_tables import has_table, keep_small, table_of, written
from tcbo_pyomo.studies.statistics import difference

HERE = Path(__file__).parent
STUDIES = ("synchronous", "asynchronous", "thermal", "obstacles")
UNSEEN = ("unseen_cascade", "unseen_fjord", "unseen_drone")
"""Each group has counts of its own."""
ALONE = {"drawn_thermal": "drawn functions", "drawn_obstacles": "drawn functions", "options_continuous": "options"}
"""Studies of systems that have a table above, and what their own is about."""
FIRST_MOVES = ("first_move_drawn", "first_move_eager")
"""The other first move on systems of the tournament, with the same seeds and noise."""
REPRODUCED = HERE.parent / "reproduction" / "small_results"
RIVALS = {"synchronous": ("synchronous",), "asynchronous": ("asynchronous", "snar")}
"""Studies of the reproduction that have the paper's methods on the same systems, with the same seeds and noise."""
DEFAULT = "default"
METHODS = (DEFAULT, "local_ucb", "MDP-BO-UCB", "MDP-BO-TS", "local_search_region", "truncated_snake")
"""Those of the continuous systems, in the order of the figure's legend."""
SHARES = (0.25, 0.5, 0.75, 1.0)
COMPARED = (0.5, 1.0)
FIRST_MOVE_TITLE = (
    "| | seeds | default, 50 % | 100 % | other first move | 50 % | 100 % | default minus it at 50 % | at 100 % |",
    "|---" * 9 + "|",
)
TITLES = "25 % | 50 % | 75 % | 100 % | default minus it at 50 % | at 100 %"


@dataclass(frozen=True)
class Gap:
    """The default minus a rival on one system, after a share of the budget."""

    system: str
    rival: str
    share: float
    mean: float
    half: float

    @property
    def verdict(self) -> str:
        """Whether the default is better."""
        return "better" if self.mean + self.half < 0 else "worse" if self.mean - self.half > 0 else "equal"

    def __str__(self) -> str:
        mark = {"better": "**", "worse": "_", "equal": ""}[self.verdict]
        return f"{mark}{self.mean:+.2g} ± {self.half:.2g}{mark}"


def main(folder: Path, *options: str) -> None:
    """Print every table, write them into a README, or keep the small tables."""
    if options[:1] == ("finite",):
        finite.print_tables(folder, list(options[1:]))
    elif options[:1] == ("--small",):
        for place in sorted(path for path in folder.iterdir() if path.is_dir()):
            keep_small(place, Path(options[1]) / place.name, quarters, digits=9)
    elif options and options[0].endswith(".md"):
        readme = Path(options[0])
        text = readme.read_text(encoding="utf-8")
        for name, block in every_block(folder):
            text = written(text, name, block)
        readme.write_text(text, encoding="utf-8")
    else:
        for _, block in blocks(folder, options or STUDIES):
            print(f"\n{block}")


def every_block(folder: Path) -> Iterator[tuple[str, str]]:
    """All tables of the README that a folder has the studies of."""
    yield from finite.blocks(folder)
    for studies in (STUDIES, UNSEEN):
        yield from blocks(folder, studies)
    for study, about in ALONE.items():
        for system, table in continuous_systems(folder, (study,)):
            name = f"{system}, {about}"
            yield name, "\n".join(_table(name, table, _gaps(name, table)))
    if rows := list(_first_moves(folder)):
        yield "first move", "\n".join((*FIRST_MOVE_TITLE, *rows))


def blocks(folder: Path, studies: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """A table for each system; where no study is missing, on how many of them the default is better or its mean lower."""
    gaps: list[Gap] = []
    for system, table in continuous_systems(folder, studies):
        found = _gaps(system, table)
        gaps += found
        yield system, "\n".join(_table(system, table, found))
    complete = all(has_table(folder / study, "runs") for study in studies)
    for share in COMPARED if complete else ():
        yield f"{studies[0]} counts at {share:.0%}", "\n".join(_counts(gaps, share))


def continuous_systems(folder: Path, studies: Iterable[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The name and the runs of every system of these studies that the folder has."""
    for study in studies:
        if (runs := _runs(folder, study)) is not None:
            for (problem, feedback), table in runs.groupby(["problem", "feedback"], sort=False):
                yield f"{problem}, {feedback}", table


def quarters(runs: pd.DataFrame) -> list[int]:
    """The moves after which a campaign is looked at."""
    return [ceil(share * int(runs["move"].max())) for share in SHARES]


def _runs(folder: Path, study: str) -> pd.DataFrame | None:
    """The runs of a study, with those of the reproduction on its systems where it has not the method itself."""
    own = table_of(folder / study, "runs")
    found = (table_of(REPRODUCED / name, "runs") for name in RIVALS.get(study, ()))
    others = [table for table in found if table is not None]
    if own is None or not others:
        return own
    systems = own.groupby(["problem", "feedback"], sort=False)
    known = pd.MultiIndex.from_frame(own[["problem", "feedback", "method"]])
    rivals = pd.concat(others)
    new = ~pd.MultiIndex.from_frame(rivals[["problem", "feedback", "method"]]).isin(known)
    mine = pd.MultiIndex.from_frame(rivals[["problem", "feedback"]]).isin(list(systems.groups))
    return pd.concat([own, rivals[new & mine]])


def _gaps(system: str, table: pd.DataFrame) -> list[Gap]:
    moves = quarters(table)
    of = dict(iter(table.groupby("method", sort=False)))
    gaps = []
    for method, share in ((method, share) for method in of if method != DEFAULT for share in COMPARED):
        move = moves[SHARES.index(share)]
        found = difference(_at(of[DEFAULT], move), _at(of[method], move))
        half = found["difference_high"] - found["difference_mean"]
        gaps.append(Gap(system, str(method), share, found["difference_mean"], half))
    return gaps


def _table(system: str, table: pd.DataFrame, gaps: list[Gap]) -> Iterator[str]:
    moves = quarters(table)
    known = table["identified"].notna().any()
    yield f"| {system}, {_number_of_seeds(table)} seeds | {TITLES} |"
    yield "|---" * 7 + "|"
    for method, rows in table.groupby("method", sort=False):
        cells = [f"{_at(rows, move)['regret'].median():.2g}" for move in moves]
        last = _at(rows, moves[-1])
        if known:
            cells[-1] += f" / {last['identified'].astype(bool).mean():.0%}"
        else:
            low, high = last["regret"].quantile([0.1, 0.9])
            cells[-1] += f" ({low:.2g} to {high:.2g})"
        found = [str(gap) for gap in gaps if gap.rival == method] or ["", ""]
        yield f"| {method} | {' | '.join([*cells, *found])} |"


def _first_moves(folder: Path) -> Iterator[str]:
    """The default against the other first move on every system that has both."""
    own = dict(continuous_systems(folder, (*STUDIES, *UNSEEN)))
    for system, other in continuous_systems(folder, FIRST_MOVES):
        if system not in own:
            continue
        default = own[system][lambda runs: runs["method"] == DEFAULT]
        moves = [quarters(default)[SHARES.index(share)] for share in COMPARED]
        medians = [[f"{_at(rows, move)['regret'].median():.2g}" for move in moves] for rows in (default, other)]
        gaps = [str(gap) for gap in _gaps(system, pd.concat([default, other]))]
        cells = [_number_of_seeds(other), *medians[0], other["method"].iloc[0], *medians[1], *gaps]
        yield f"| {system} | {' | '.join(cells)} |"


def _number_of_seeds(table: pd.DataFrame) -> str:
    numbers = sorted(set(table.groupby("method")["seed"].nunique()))
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _counts(gaps: list[Gap], share: float) -> Iterator[str]:
    yield f"| default against, after {share:.0%} of the budget | better | no difference | worse | mean regret lower on |"
    yield "|---" * 5 + "|"
    for rival in dict.fromkeys(gap.rival for gap in gaps):
        mine = [gap for gap in gaps if (gap.rival, gap.share) == (rival, share)]
        better, equal, worse = ([gap for gap in mine if gap.verdict == word] for word in ("better", "equal", "worse"))
        named = f"({'; '.join(gap.system for gap in worse)})" if worse else ""
        lower = f"{sum(gap.mean < 0 for gap in mine)} of {len(mine)}"
        yield f"| {rival} | {len(better)} | {len(equal)} | {f'{len(worse)} {named}'.rstrip()} | {lower} |"


def _at(rows: pd.DataFrame, move: int) -> pd.DataFrame:
    return rows[rows["move"] == move]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), *sys.argv[2:])
