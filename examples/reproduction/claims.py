"""The figures behind the claims of the paper: `python claims.py RESULTS` prints every table and verdict as Markdown.

Each study file of this folder is run with `tcbo study FILE.yaml --output RESULTS/NAME`. `python claims.py RESULTS README.md`
writes the tables into the README, between the comments that name them; tables of studies that are not in RESULTS stay.
`python claims.py RESULTS --small FOLDER` keeps what the tables and verdicts are made of, and nothing else; runs that FOLDER has
and RESULTS has not stay, so that a long study can be made in parts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from claim_tables import chosen_moves, plan_times, regrets, stays
from statements import statements
from verdicts import summary_rows, verdict_rows

from tcbo_pyomo.studies import shipped_tables
from tcbo_pyomo.studies.shipped_tables import keep_table, table_of, written
from tcbo_pyomo.studies.statistics import CASE

STUDIES = (
    "knorr",
    "lake",
    "lake_low_noise",
    "laser",
    "components",
    "components_lake",
    "components_laser",
    "literal_total",
    "synchronous",
    "asynchronous",
    "snar",
    "g_allocation",
    "thompson_count",
    "upper_confidence_count",
    "upper_confidence_count_asynchronous",
)
TIMED = ("knorr", "lake", "laser", "asynchronous", "snar")


def blocks(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of every table that the studies in a folder have."""
    for name in STUDIES:
        runs = table_of(folder / name, "runs")
        if runs is not None:
            yield name, "\n".join(regrets(runs)).strip()
        if name in TIMED and (timings := table_of(folder / name, "timings")) is not None:
            yield f"{name} times", "\n".join(plan_times(timings))
    paths = table_of(folder / "laser", "paths")
    if paths is not None:
        yield "laser stays", "\n".join(stays(paths))
    for study in dict.fromkeys(statement.study for statement in statements()):
        rows = list(verdict_rows(folder, study))
        if len(rows) > 2:
            yield f"{study} verdicts", "\n".join(rows)
    yield "verdicts", "\n".join(summary_rows(folder))


def keep_small(folder: Path, target: Path) -> None:
    """The rows of runs.csv that the tables read, and the mean seconds per plan of each run that a verdict compares."""
    compared = {statement.study for statement in statements() if statement.measure == "seconds"}
    for name in STUDIES:
        shipped_tables.keep_small(folder / name, target / name, chosen_moves)
        if name in compared and (times := table_of(folder / name, "timings")) is not None:
            means = times.groupby([*CASE, "seed"], sort=False)["seconds"].mean().reset_index()
            keep_table(means, target / name, "seconds")


def main(folder: Path, *options: str) -> None:
    """Print all blocks, write them into a README, or keep the small tables."""
    if options[:1] == ("--small",):
        keep_small(folder, Path(options[1]))
    elif options:
        readme = Path(options[0])
        text = readme.read_text(encoding="utf-8")
        for name, block in blocks(folder):
            text = written(text, name, block)
        readme.write_text(text, encoding="utf-8")
    else:
        for name, block in blocks(folder):
            print(f"\n### {name}\n\n{block}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"), *sys.argv[2:])
