"""The tables of a study: runs.csv, timings.csv, paths.csv, failures.csv, summary.csv and comparisons.csv.

All but timings.csv depend on nothing but the study: the same study gives the same bytes, whatever engine made it and
however often it was interrupted. They are written from plain rows and read as data frames only when someone looks at them:
pandas takes longer to load than a small study to run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from io import StringIO
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.checked_file import write_atomically
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.runs import Run
from tcbo_pyomo.studies.statistics import (
    COMPARISON_COLUMNS,
    STANDING_COLUMNS,
    SUMMARY_COLUMNS,
    comparison_rows,
    standings,
    summary_rows,
)
from tcbo_pyomo.studies.study_folder import StudyFolder

if TYPE_CHECKING:
    import pandas as pd

CASE = ["problem", "feedback", "method", "setting"]
RUN_COLUMNS = [*CASE, "seed", "episode", "step", "move", "regret", "identified", "candidates"]
TABLES = ("runs", "timings", "paths", "failures", "summary", "comparisons")
LONGEST_CELL = 2**31 - 1
"""The message of a failed run may be longer than what Python's csv module takes for damage."""

Rows = list[list[Any]]
Records = list[tuple[Run, dict[str, Any]]]


class StudyTables:
    """The tables of a study as data frames, each read from the study's folder when it is first looked at."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run and move: regret, identified, candidates."""
        return self._frame("runs")

    @cached_property
    def timings(self) -> pd.DataFrame:
        """Seconds of each plan."""
        return self._frame("timings")

    @cached_property
    def paths(self) -> pd.DataFrame:
        """Where each run went, in the units of its problem."""
        return self._frame("paths")

    @cached_property
    def failures(self) -> pd.DataFrame:
        """Runs that ended with an error."""
        return self._frame("failures")

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Quantiles and identification rates per case, with the paired difference to the study's first case."""
        return self._frame("summary")

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """Every two cases on the same problem, paired over seeds."""
        return self._frame("comparisons")

    def rows(self, name: str) -> list[dict[str, str]]:
        """The rows of a table as text, for those who need no data frame."""
        csv.field_size_limit(LONGEST_CELL)
        with self.path(name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def path(self, name: str) -> Path:
        """The file of a table."""
        return self.folder / f"{name}.csv"

    def _frame(self, name: str) -> pd.DataFrame:
        """A table as a data frame; empty settings are empty text."""
        import pandas as pd

        # A method may be called "NA": only empty cells are missing.
        frame = pd.read_csv(self.path(name), keep_default_na=False, na_values=[""])
        texts = [column for column in (*CASE, "against", "against_setting") if column in frame]
        frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), "")
        return frame


def write_tables(folder: StudyFolder, runs: list[Run]) -> None:
    """All tables, each replaced as a whole."""
    records = [(run, record) for run in runs if (record := folder.record(run)) is not None]
    moves = _runs_rows(records)
    found = standings(map(itemgetter(*map(RUN_COLUMNS.index, STANDING_COLUMNS)), moves))
    tables: dict[str, tuple[list[str], Rows]] = {
        "runs": (RUN_COLUMNS, moves),
        "timings": ([*CASE, "seed", "episode", "step", "seconds"], _timings_rows(records)),
        "paths": _paths_table(records),
        "failures": ([*CASE, "seed", "error"], _failures_rows(folder, runs)),
        "summary": (SUMMARY_COLUMNS, summary_rows(found)),
        "comparisons": (COMPARISON_COLUMNS, comparison_rows(found)),
    }
    for name in TABLES:
        write_atomically(folder.place / f"{name}.csv", _text(*tables[name]).encode())


def read_tables(folder: str | Path) -> StudyTables:
    """The tables of a study folder; a table that is missing is said at once."""
    tables = StudyTables(folder)
    for name in TABLES:
        if not tables.path(name).is_file():
            raise BadInput(f"folder '{folder}' has no {name}.csv; it is not the folder of a study that was run")
    return tables


def _text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV: floats with all their digits, None as an empty cell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _labels(run: Run) -> list[Any]:
    case = run.case
    return [case.problem, case.feedback, case.method, case.setting, run.seed]


def _labelled(records: Records) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    return ((_labels(run), record) for run, record in records)


def _runs_rows(records: Records) -> Rows:
    return [
        [*labels, episode, step, move, regret, identified, candidates]
        for labels, record in _labelled(records)
        for move, (episode, step, regret, identified, candidates) in enumerate(record["steps"], start=1)
    ]


def _timings_rows(records: Records) -> Rows:
    return [[*labels, *timing] for labels, record in _labelled(records) for timing in record["seconds"]]


def _paths_table(records: Records) -> tuple[list[str], Rows]:
    """Columns and rows; problems with fewer coordinates than others leave the last ones empty."""
    rows = [[*labels, *place] for labels, record in _labelled(records) for place in record["path"]]
    width = max((len(row) for row in rows), default=8) - 7
    columns = [*CASE, "seed", "episode", "step", *(f"coordinate_{number}" for number in range(1, width + 1))]
    return columns, [row + [None] * (len(columns) - len(row)) for row in rows]


def _failures_rows(folder: StudyFolder, runs: list[Run]) -> Rows:
    failed = [(run, folder.failure(run)) for run in runs if folder.record(run) is None]
    return [[*_labels(run), failure["error"]] for run, failure in failed if failure is not None]
