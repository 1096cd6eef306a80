"""The tables of a study: runs.csv, timings.csv, paths.csv, failures.csv, summary.csv and comparisons.csv.

All but timings.csv depend on nothing but the study: the same study gives the same bytes, whatever engine made it and
however often it was interrupted. They are written from plain rows and read as data frames only when someone looks at them:
pandas takes longer to load than a small study to run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.atomic_file import write_atomically
from tcbo_pyomo.studies.runs import Run
from tcbo_pyomo.studies.statistics import (
    CASE,
    COMPARISON_COLUMNS,
    SUMMARY_COLUMNS,
    comparison_rows,
    standings,
    summary_rows,
)
from tcbo_pyomo.studies.study_folder import StudyFolder

if TYPE_CHECKING:
    import pandas as pd

RUN_COLUMNS = [*CASE, "seed", "episode", "step", "move", "regret", "identified", "candidates"]
TABLES = ("runs", "timings", "paths", "failures", "summary", "comparisons")
LONGEST_CELL = 2**31 - 1
"""The message of a failed run may be longer than what Python's csv module takes for damage."""

Records = list[tuple[Run, dict[str, Any]]]
Labelled = list[tuple[str, dict[str, Any]]]
"""Records with the labels of their runs as the first cells of a line."""


def _table(name: str) -> cached_property[pd.DataFrame]:
    return cached_property(lambda tables: tables.frame(name))


class StudyTables:
    """The tables of a study as data frames, each read from the study's folder when it is first looked at."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    runs = _table("runs")
    """One row per run and move: regret, identified, candidates."""
    timings = _table("timings")
    """Seconds of each plan."""
    paths = _table("paths")
    """Where each run went, in the units of its problem."""
    failures = _table("failures")
    """Runs that ended with an error."""
    summary = _table("summary")
    """Quantiles and identification rates per case, with the paired difference to the study's first case."""
    comparisons = _table("comparisons")
    """Every two cases on the same problem, paired over seeds."""

    def rows(self, name: str) -> list[dict[str, str]]:
        """The rows of a table as text, for those who need no data frame."""
        csv.field_size_limit(LONGEST_CELL)
        with self.path(name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def path(self, name: str) -> Path:
        """The file of a table."""
        return self.folder / f"{name}.csv"

    def frame(self, name: str) -> pd.DataFrame:
        """A table as a data frame; empty settings are empty text."""
        return frame_of(self.path(name))


def write_tables(folder: StudyFolder, runs: list[Run]) -> None:
    """All tables, each replaced as a whole."""
    records = [(run, record) for run in runs if (record := folder.record(run)) is not None]
    labelled = [(_text([_labels(run)]).rstrip("\n"), record) for run, record in records]
    found = standings(_standing_rows(records))
    stopped = any("stopped_after" in record for _, record in records)
    tables = {
        "runs": _runs_text(labelled, stopped),
        "timings": _timings_text(labelled),
        "paths": _paths_text(labelled),
        "failures": _text([[*CASE, "seed", "error"], *_failures(folder, runs)]),
        "summary": _text([SUMMARY_COLUMNS, *summary_rows(found)]),
        "comparisons": _text([COMPARISON_COLUMNS, *comparison_rows(found)]),
    }
    for name, text in tables.items():
        write_atomically(folder.place / f"{name}.csv", text.encode())


def read_tables(folder: str | Path) -> StudyTables:
    """The tables of a study folder; a table that is missing is said at once."""
    tables = StudyTables(folder)
    for name in TABLES:
        if not tables.path(name).is_file():
            raise BadInput(f"folder '{folder}' has no {name}.csv; give the folder of a finished study")
    return tables


def frame_of(file: Path) -> pd.DataFrame:
    """A table, compressed or not, as a data frame; empty settings are empty text."""
    import pandas as pd

    # A method may be called "NA": only empty cells are missing.
    frame = pd.read_csv(file, keep_default_na=False, na_values=[""])
    texts = [column for column in (*CASE, "against", "against_setting") if column in frame]
    frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), "")
    return frame


def _text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV: floats with all their digits, None and NaN as empty cells."""
    text = StringIO()
    known = ([None if cell != cell else cell for cell in row] for row in rows)
    csv.writer(text, lineterminator="\n").writerows(known)
    return text.getvalue()


def _labels(run: Run) -> list[Any]:
    case = run.case
    return [case.problem, case.feedback, case.method, case.setting, run.seed]


def _standing_rows(records: Records) -> Iterator[tuple[Any, ...]]:
    """What the statistics are made of, see `standings`."""
    for run, record in records:
        labels = _labels(run)
        for move, (episode, _, regret, identified, _) in enumerate(record["steps"], start=1):
            yield (*labels, episode, move, regret, identified)


# The tables with a row for every move: what follows the labels are numbers, which CSV never quotes, so that the labels
# of a run are written once and its rows need not go through the csv module cell by cell.


def _runs_text(labelled: Labelled, stopped: bool) -> str:
    """Where a run ended before its budget, a last column says which moves were made: the others repeat the last one."""
    lines = [_text([[*RUN_COLUMNS, "made"] if stopped else RUN_COLUMNS])]
    for labels, record in labelled:
        for move, (episode, step, regret, identified, candidates) in enumerate(record["steps"], start=1):
            known = f"{'' if regret is None else regret},{'' if identified is None else identified}"
            made = f",{move <= record.get('stopped_after', move)}" if stopped else ""
            lines.append(f"{labels},{episode},{step},{move},{known},{candidates}{made}\n")
    return "".join(lines)


def _timings_text(labelled: Labelled) -> str:
    lines = [_text([[*CASE, "seed", "episode", "step", "seconds"]])]
    for labels, record in labelled:
        lines += [f"{labels},{episode},{step},{seconds}\n" for episode, step, seconds in record["seconds"]]
    return "".join(lines)


def _paths_text(labelled: Labelled) -> str:
    """Problems with fewer coordinates than others leave the last cells empty."""
    width = max((len(place) - 2 for _, record in labelled for place in record["path"]), default=1)
    lines = [_text([[*CASE, "seed", "episode", "step", *(f"coordinate_{n}" for n in range(1, width + 1))]])]
    for labels, record in labelled:
        for place in record["path"]:
            absent = "," * (width + 2 - len(place))
            lines.append(f"{labels},{','.join(map(str, place))}{absent}\n")
    return "".join(lines)


def _failures(folder: StudyFolder, runs: list[Run]) -> list[list[Any]]:
    failed = [(run, folder.failure(run)) for run in runs if folder.record(run) is None]
    return [[*_labels(run), failure["error"]] for run, failure in failed if failure is not None]
