"""The tables of a study: runs.csv, timings.csv, paths.csv, failures.csv, summary.csv and comparisons.csv.

All but timings.csv depend on nothing but the study: the same study gives the same bytes, whatever engine made it and
however often it was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tcbo_pyomo.checked_file import write_atomically
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.runs import Run
from tcbo_pyomo.studies.statistics import comparisons, summary
from tcbo_pyomo.studies.study_folder import StudyFolder

CASE = ["problem", "feedback", "method", "setting"]
RUN_COLUMNS = [*CASE, "seed", "episode", "step", "move", "regret", "identified", "candidates"]


@dataclass(frozen=True)
class StudyTables:
    """The tables of a study as data frames.

    Attributes
    ----------
    runs
        One row per run and move: regret, identified, candidates.
    timings
        Seconds of each plan.
    paths
        Where each run went, in the units of its problem.
    failures
        Runs that ended with an error.
    summary
        Quantiles and identification rates per case, with the paired difference to the study's first case.
    comparisons
        Every two cases on the same problem, paired over seeds.
    """

    runs: pd.DataFrame
    timings: pd.DataFrame
    paths: pd.DataFrame
    failures: pd.DataFrame
    summary: pd.DataFrame
    comparisons: pd.DataFrame


def write_tables(folder: StudyFolder, runs: list[Run]) -> None:
    """All tables, each replaced as a whole."""
    records = [(run, record) for run in runs if (record := folder.record(run)) is not None]
    table = _runs_table(records)
    tables = {
        "runs": table,
        "timings": _timings_table(records),
        "paths": _paths_table(records),
        "failures": _failures_table(folder, runs),
        "summary": summary(table),
        "comparisons": comparisons(table),
    }
    for name, frame in tables.items():
        write_atomically(folder.place / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n").encode())


def read_tables(folder: str | Path) -> StudyTables:
    """The tables of a study folder; empty settings are empty text."""
    frames = {}
    for name in StudyTables.__dataclass_fields__:
        path = Path(folder, f"{name}.csv")
        if not path.is_file():
            raise BadInput(f"folder '{folder}' has no {name}.csv; it is not the folder of a study that was run")
        # A method may be called "NA": only empty cells are missing.
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
        texts = [column for column in (*CASE, "against", "against_setting") if column in frame]
        frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), "")
        frames[name] = frame
    return StudyTables(**frames)


def _labels(run: Run) -> list[Any]:
    case = run.case
    return [case.problem, case.feedback, case.method, case.setting, run.seed]


def _labelled(records: list[tuple[Run, dict[str, Any]]]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    return ((_labels(run), record) for run, record in records)


def _runs_table(records: list[tuple[Run, dict[str, Any]]]) -> pd.DataFrame:
    rows = [
        [*labels, episode, step, move, regret, identified, candidates]
        for labels, record in _labelled(records)
        for move, (episode, step, regret, identified, candidates) in enumerate(record["steps"], start=1)
    ]
    return pd.DataFrame(rows, columns=RUN_COLUMNS)


def _timings_table(records: list[tuple[Run, dict[str, Any]]]) -> pd.DataFrame:
    rows = [[*labels, *timing] for labels, record in _labelled(records) for timing in record["seconds"]]
    return pd.DataFrame(rows, columns=[*CASE, "seed", "episode", "step", "seconds"])


def _paths_table(records: list[tuple[Run, dict[str, Any]]]) -> pd.DataFrame:
    rows = [[*labels, *place] for labels, record in _labelled(records) for place in record["path"]]
    width = max((len(row) for row in rows), default=8) - 7
    columns = [*CASE, "seed", "episode", "step", *(f"coordinate_{number}" for number in range(1, width + 1))]
    return pd.DataFrame([row + [None] * (len(columns) - len(row)) for row in rows], columns=columns)


def _failures_table(folder: StudyFolder, runs: list[Run]) -> pd.DataFrame:
    failed = [(run, folder.failure(run)) for run in runs if folder.record(run) is None]
    rows = [[*_labels(run), failure["error"]] for run, failure in failed if failure is not None]
    return pd.DataFrame(rows, columns=[*CASE, "seed", "error"])
