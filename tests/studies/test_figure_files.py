"""The files that the figures of a study are written to and made from, and what is said of bad ones."""

import numpy as np
import pytest
from study_tables import BRANIN, KNORR, SNAR, paths_table, runs_table, timings_table, write_study
from typer.testing import CliRunner

from tcbo_pyomo.cli.main import app
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.figures import (
    identification_figure,
    paths_figure,
    regret_figure,
    solve_time_table,
    write_figures,
)
from tcbo_pyomo.studies.figures.drawings import drawings_of
from tcbo_pyomo.studies.study import study_from
from tcbo_pyomo.studies.study_folder import StudyFolder

RUNS, TIMINGS, PATHS = runs_table(), timings_table(), paths_table()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    cases = [(KNORR, "mdp_bo", f"planner.components={number}", 2, 4, True) for number in (1, 5)]
    cases.append((SNAR, "truncated_snake", "", 1, 6, False))
    folder = tmp_path_factory.mktemp("study")
    tables = {"runs": runs_table(cases, 2), "timings": timings_table(cases, 2), "paths": paths_table(cases, 1)}
    return write_study(folder, **tables)


def test_all_figures_are_written_twice_the_same(study, tmp_path):
    first = write_figures(study)
    kinds = ("regret", "ablation", "identification", "candidates", "paths")
    names = [f"{kind}-knorr_pyrazole-episodic" for kind in kinds]
    names += ["regret-snar-delayed_25", "paths-snar-delayed_25", "solve_times"]
    assert [path.name for path in first] == [f"{name}.{kind}" for name in names for kind in ("png", "svg")]
    assert {path.parent for path in first} == {study / "figures"}
    second = write_figures(study, tmp_path / "a" / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    for path in first:
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")
        assert path.suffix == ".png" or b"<dc:date>" not in content


def only_runs(folder, table):
    return write_study(folder, runs=table)


def test_a_study_without_paths_and_timings_has_its_other_figures(tmp_path):
    cases = [
        (("$own/prob lem.py", "episodic"), "NA", "", 2, 3, True),
        (("$own_prob_lem.py", "episodic"), "b", "", 2, 3, True),
    ]
    written = write_figures(only_runs(tmp_path, runs_table(cases, seeds=1)))
    stems = [path.stem for path in written if path.suffix == ".png"]
    assert stems[0] == "regret-_own_prob_lem.py-episodic"
    assert stems[3] == "regret-_own_prob_lem.py-episodic_2"
    assert len(stems) == 6


def test_unknown_truth_leaves_candidates_only(tmp_path):
    table = runs_table([(("mine", "immediate"), "mdp_bo", "", 1, 4, False)]).assign(regret=None, identified=None)
    assert [path.name for path in write_figures(only_runs(tmp_path, table))] == [
        "candidates-mine-immediate.png",
        "candidates-mine-immediate.svg",
    ]


OWN_PROBLEM = """
from pathlib import Path
from tcbo_pyomo.library.river import build as river
Path(__file__).with_suffix(".ran").touch()
def build(feedback=None, seed=0):
    return river(feedback, seed)
"""


def test_a_problem_file_is_run_only_if_the_user_names_it(tmp_path, caplog):
    file = tmp_path / "own.py"
    file.write_text(OWN_PROBLEM)
    cases = [(("own", "immediate"), "mdp_bo", "", 2, 3, True)]
    places = paths_table([(("river", "immediate"), "mdp_bo", "", 2, 3, True)]).assign(problem="own")
    folder = write_study(tmp_path / "study", runs=runs_table(cases), paths=places)
    write_figures(folder)
    assert not file.with_suffix(".ran").exists()
    assert "own is not a shipped problem" in caplog.text
    traced = (folder / "figures" / "paths-own-immediate.svg").read_bytes()
    write_figures(folder, problem_files=[file])
    assert file.with_suffix(".ran").exists()
    assert (folder / "figures" / "paths-own-immediate.svg").read_bytes() != traced


def test_a_problem_under_another_label_is_found_in_the_studys_definition(tmp_path):
    definition = {"name": "s", "problems": [{"problem": "knorr_pyrazole", "name": "Knorr"}], "seeds": [1]}
    folder = StudyFolder(tmp_path / "study")
    folder.claim(study_from(definition))
    cases = [(KNORR, "mdp_bo", "", 2, 3, True)]
    tables = {"runs": runs_table(cases, 2), "paths": paths_table(cases, 1)}
    write_study(folder.place, **{name: table.assign(problem="Knorr") for name, table in tables.items()})
    drawn = dict(drawings_of(folder.place))["paths-Knorr-episodic"]()
    assert drawn.axes[-1].get_ylabel() == "true product"


def test_the_command_prints_the_files(tmp_path):
    folder = only_runs(tmp_path / "study", runs_table([(KNORR, "mdp_bo", "", 2, 3, True)], seeds=2))
    result = CliRunner().invoke(app, ["figures", str(folder), "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    printed = result.output.split()
    assert len(printed) == 6
    assert sorted(printed) == sorted(str(path) for path in (tmp_path / "out").iterdir())


# ---- bad input


def test_missing_folder_and_missing_table(tmp_path):
    with pytest.raises(BadInput, match=r"study folder '.*nowhere' does not exist"):
        write_figures(tmp_path / "nowhere")
    with pytest.raises(BadInput, match=r"has no runs\.csv"):
        write_figures(tmp_path)


def test_missing_columns_are_named(tmp_path):
    folder = only_runs(tmp_path, RUNS.drop(columns=["regret", "seed"]))
    with pytest.raises(BadInput, match=r"runs\.csv: column\(s\) seed, regret missing; there are: problem, feedback"):
        write_figures(folder)
    assert not (folder / "figures").exists()
    with pytest.raises(BadInput, match=r"timings: column\(s\) seconds missing"):
        solve_time_table(TIMINGS.drop(columns="seconds"))
    with pytest.raises(BadInput, match=r"paths: column\(s\) coordinate_1 missing"):
        paths_figure(PATHS.drop(columns=[f"coordinate_{i}" for i in range(1, 5)]), *KNORR)


def test_empty_tables(tmp_path):
    with pytest.raises(BadInput, match=r"runs\.csv: has no rows"):
        write_figures(only_runs(tmp_path, RUNS.iloc[:0]))
    (tmp_path / "runs.csv").write_text("")
    with pytest.raises(BadInput, match=r"runs\.csv: is empty"):
        write_figures(tmp_path)
    (tmp_path / "runs.csv").write_bytes(b"\xff\xfe\x00a,b\n")
    with pytest.raises(BadInput, match=r"runs\.csv: "):
        write_figures(tmp_path)
    with pytest.raises(BadInput, match="timings: has no rows"):
        solve_time_table(TIMINGS.assign(seconds=np.nan))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("regret", "big", "column 'regret', row 3: 'big' must be a finite number or empty"),
        ("regret", "inf", "column 'regret', row 3"),
        ("identified", "maybe", "column 'identified', row 3: 'maybe' must be True or False or empty"),
        ("seed", None, "column 'seed', row 3: .* must be a finite number"),
    ],
)
def test_wrong_cells_are_named(column, value, message, tmp_path):
    table = RUNS.astype({column: object})
    table.loc[2, column] = value
    with pytest.raises(BadInput, match=message):
        write_figures(only_runs(tmp_path, table))


def test_unknown_problem_and_feedback():
    with pytest.raises(BadInput, match="no rows with problem 'knorr_pyrazol'; did you mean 'knorr_pyrazole'"):
        regret_figure(RUNS, "knorr_pyrazol", "episodic")
    with pytest.raises(BadInput, match="no rows with feedback 'late'; known: episodic"):
        identification_figure(RUNS, "knorr_pyrazole", "late")
    with pytest.raises(BadInput, match="column 'identified' is empty for problem 'branin2d'"):
        identification_figure(RUNS, *BRANIN)


def test_paths_of_another_problem_than_the_table_says():
    with pytest.raises(BadInput, match="has 4 coordinates, the table has 2"):
        paths_figure(PATHS, *BRANIN, source="snar")


def test_output_that_is_a_file(tmp_path):
    folder = only_runs(tmp_path / "study", RUNS)
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="is a file; give a folder"):
        write_figures(folder, tmp_path / "file")
