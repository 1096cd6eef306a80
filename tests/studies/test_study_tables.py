"""The tables are the CSV that pandas would write, and data frames only for those who look at them."""

import pandas as pd
import pytest
from statistics_frames import comparisons, summary

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.runs import Case, Run
from tcbo_pyomo.studies.study_tables import RUN_COLUMNS, read_tables, write_tables

LABELS = RUN_COLUMNS[:5]
STEPS = {
    "plane": [[1, 1, 0.1 + 0.2, False, 9], [1, 2, 1e-17, True, 4], [2, 1, 0.0, True, 1], [2, 2, 1e22, False, 3]],
    "unknown": [[1, 1, None, None, 9], [1, 2, None, None, 9], [1, 3, None, None, 8]],
}
PATHS = {"plane": [[1, 0, 0.5, -0.0], [1, 1, 1 / 3, 2.0]], "unknown": [[1, 0, 7.25]]}


class Folder:
    """Made-up runs of two problems; the last has failed."""

    def __init__(self, place):
        self.place = place
        cases = [(p, m, s) for p in STEPS for m, s in (("NA", ""), ('a, "b"', "x=[1, 2]"))]
        self.runs = [
            Run(Case(problem, "immediate", method, setting, "", {"of": method}, problem), seed)
            for problem, method, setting in cases
            for seed in (1, 2, 3)
        ]

    def record(self, run):
        if run is self.runs[-1]:
            return None
        # Seeds and methods differ in what they reach.
        factor = run.seed if run.case.setting else 1.0
        steps = [[e, s, None if r is None else r * factor, i, c] for e, s, r, i, c in STEPS[run.case.problem]]
        return {"steps": steps, "path": PATHS[run.case.problem], "seconds": [(1, 1, 0.25), (1, 2, 1e-5)]}

    def failure(self, run):
        return {"error": "ValueError: a, 'b' and \"c\"\nare wrong"} if run is self.runs[-1] else None


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path)
    write_tables(folder, folder.runs)
    return folder


def by_pandas(frame):
    return frame.to_csv(index=False, lineterminator="\n").encode()


def frames(folder):
    """The tables, made of data frames."""
    records = [
        ([r.case.problem, r.case.feedback, r.case.method, r.case.setting, r.seed], record)
        for r in folder.runs
        if (record := folder.record(r))
    ]
    runs = pd.DataFrame(
        [[*x, e, s, n, *rest] for x, record in records for n, (e, s, *rest) in enumerate(record["steps"], start=1)],
        columns=RUN_COLUMNS,
    )
    places = ["episode", "step", "coordinate_1", "coordinate_2"]
    paths = pd.DataFrame(
        [[*x, *place, *[None] * (4 - len(place))] for x, record in records for place in record["path"]],
        columns=[*LABELS, *places],
    )
    timings = pd.DataFrame(
        [[*x, *timing] for x, record in records for timing in record["seconds"]],
        columns=[*LABELS, "episode", "step", "seconds"],
    )
    return {
        "runs": runs,
        "paths": paths,
        "timings": timings,
        "summary": summary(runs),
        "comparisons": comparisons(runs),
    }


def test_the_bytes_are_those_of_pandas(folder):
    for name, frame in frames(folder).items():
        assert (folder.place / f"{name}.csv").read_bytes() == by_pandas(frame), name


def test_they_are_read_when_looked_at_as_frames_or_as_text(folder):
    tables = read_tables(folder.place)
    assert not {"runs", "summary"} & set(vars(tables))
    assert tables.runs is tables.runs
    assert tables.runs["method"].unique().tolist() == ["NA", 'a, "b"']
    assert tables.runs["setting"].unique().tolist() == ["", "x=[1, 2]"]
    assert tables.failures["error"].tolist() == ["ValueError: a, 'b' and \"c\"\nare wrong"]
    assert [row["error"] for row in tables.rows("failures")] == tables.failures["error"].tolist()
    assert [row["regret_mean"] for row in tables.rows("summary")][-1] == ""
    assert tables.summary["regret_mean"].isna().sum() == 6


def test_a_missing_table_is_said_at_once(folder):
    (folder.place / "comparisons.csv").unlink()
    with pytest.raises(BadInput, match=r"has no comparisons\.csv; give the folder of a finished study"):
        read_tables(folder.place)


def test_a_study_without_a_run_has_empty_tables(tmp_path):
    write_tables(Folder(tmp_path), [])
    tables = read_tables(tmp_path)
    assert tables.runs.empty and tables.paths.empty and tables.summary.empty
    assert tables.runs.columns.tolist() == RUN_COLUMNS
    assert tables.rows("summary") == []
