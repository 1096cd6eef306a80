"""Studies that start from past experiments: part of the run's key, checked before anything is run."""

import shutil
from pathlib import Path

import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies import read_study, run_study
from tcbo_pyomo.studies.execution import execute
from tcbo_pyomo.studies.runs import runs_of

HERE = Path(__file__).parent
TABLE = "time (min),ratio,y\n3,1,0.75\n2,2,1.5\n1,0,0.84\n"


@pytest.fixture
def rig(tmp_path, monkeypatch):
    shutil.copy(HERE / "tiny_reactor.py", tmp_path)
    (tmp_path / "old.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path.parent)

    def study(*lines):
        text = "name: s\nproblems: [tiny_reactor.py]\nmethods: [mdp_bo]\nseeds: [1, 2]\n"
        (tmp_path / "s.yaml").write_text(text + "\n".join(lines))
        return read_study(tmp_path / "s.yaml")

    study.folder = tmp_path
    return study


def keys(study):
    return [run.key for run in runs_of(study)]


def test_the_table_is_part_of_the_key_by_its_content(rig):
    without, with_data = keys(rig()), keys(rig("data: old.csv"))
    assert not set(without) & set(with_data)
    assert keys(rig("data: {tiny_reactor: old.csv}")) == with_data
    (rig.folder / "old.csv").write_text(TABLE.replace("1.5", "1.6"))
    assert not set(keys(rig("data: old.csv"))) & set(with_data)
    old_keys = {run.key_of_0_1_0 for run in runs_of(rig("data: old.csv"))}
    assert not old_keys & {run.key_of_0_1_0 for run in runs_of(rig())}


def test_runs_start_from_it_and_a_change_is_seen(rig):
    study = rig("data: old.csv")
    frames = run_study(study, rig.folder / "out")
    assert frames is not None
    (run, _), (bare, _) = runs_of(study), runs_of(rig())
    taught, untaught = execute(run), execute(bare)
    assert "error" not in taught and taught["path"] != untaught["path"]
    assert taught["run"]["data"].endswith("old.csv")
    (rig.folder / "old.csv").write_text(TABLE.replace("1.5", "1.6"))
    assert "file old.csv changed after the study began" in execute(run)["error"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["data: missing.csv"], "missing.csv"),
        (["data: {tiny: old.csv}"], "no problem 'tiny'"),
        (["data: old.csv", "truth: drawn"], "truth: drawn"),
        (["data: 7"], "data"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_run(rig, lines, message):
    with pytest.raises(BadInput, match=message):
        runs_of(rig(*lines))


def test_a_row_that_is_wrong_names_study_table_row_and_column(rig):
    (rig.folder / "old.csv").write_text(TABLE + "9,1,0.2\n")
    with pytest.raises(BadInput, match=r"study 's', tiny_reactor, mdp_bo: data 'old.csv', row 5, column 'time': 9 min"):
        runs_of(rig("data: old.csv"))
