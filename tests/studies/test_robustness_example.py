"""The robustness example: every study file can be read, and a few short runs make a table with verdicts."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tcbo_pyomo import load_problem, read_study, run_study

FOLDER = Path(__file__).parents[2] / "examples" / "robustness"
STUDIES = sorted(FOLDER.glob("*.yaml"))


def loaded(name):
    specification = importlib.util.spec_from_file_location(f"robustness_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_every_system_has_wrong_beliefs_and_nothing_given():
    studies = {study.name: study for study in map(read_study, STUDIES)}
    ranges = loaded("table").RANGES
    for name, study in studies.items():
        other = studies[name.replace("nothing", "beliefs").replace("right", "beliefs")]
        assert [entry.label for entry in study.problems] == [entry.label for entry in other.problems]
        assert (study.seeds, study.feedback, study.settings) == (other.seeds, other.feedback, other.settings)
        assert {entry.label.removesuffix("_idle_axis") for entry in study.problems} <= set(ranges)
    assert {entry.label for study in studies.values() for entry in study.problems} >= set(ranges)


def test_a_short_study_gives_verdicts(tmp_path, capsys):
    for name, methods in (("beliefs_finite", 3), ("nothing_finite", 1)):
        study = read_study(FOLDER / f"{name}.yaml")
        less = {"problems": study.problems[:1], "methods": study.methods[:methods], "feedback": study.feedback[:1]}
        settings = {**study.settings, "episodes": 1}
        run_study(study.model_copy(update={**less, "seeds": (1, 2), "settings": settings}), tmp_path / name, workers=1)
    loaded("table").main(tmp_path)
    said = capsys.readouterr().out
    assert "| knorr_plain, immediate |" in said and "| right kernel | 2 |" in said and "the measure" in said
    rows = [line for line in said.splitlines() if line.startswith(("| learned", "| lengthscale", "| nothing"))]
    assert len(rows) == 3 and all("passes" in row or "fails" in row for row in rows)


def test_an_idle_axis_changes_nothing():
    problem, base = load_problem(str(FOLDER / "branin2d_idle_axis.py")), load_problem("branin2d")
    point = {"u0": 0.3, "u1": 0.6}
    for idle in (0.0, 0.7):
        place = problem.locate({**point, "idle": idle})
        assert problem.true_value(place) == pytest.approx(base.true_value(base.locate(point)))


def test_coverage_counts_campaigns(capsys):
    held, covered = loaded("coverage").main(2)
    assert {held, covered} <= {0.0, 0.5, 1.0}
    assert "of 2 finite campaigns: maximum among the candidates" in capsys.readouterr().out


def test_coverage_of_a_continuous_plant(capsys, monkeypatch):
    coverage = loaded("coverage")
    monkeypatch.setattr(coverage, "MOVES", 8)
    assert set(coverage.main(1, kind="continuous")) <= {0.0, 1.0}
    assert "of 1 continuous campaigns: maximum among the candidates" in capsys.readouterr().out


def test_a_part_of_the_table_can_be_run_and_rivals_stand_beside_it(tmp_path, capsys, monkeypatch):
    run, table = loaded("run"), loaded("table")
    order = [file.stem for file in sorted(FOLDER.glob("*.yaml"), key=run._order)]
    assert order[:4] == ["nothing_finite", "beliefs_finite", "nothing_continuous", "nothing_thermal"]
    assert order[4:6] == ["right_continuous", "right_thermal"]
    finite = read_study(FOLDER / "nothing_finite.yaml")
    short = finite.model_copy(update={"feedback": finite.feedback[:1], "settings": {**finite.settings, "episodes": 1}})
    monkeypatch.setattr(run, "read_study", lambda file: short if "nothing_finite" in file.name else read_study(file))
    run.main(tmp_path, 1, "1..2", ("nothing_finite",))
    assert [path.name for path in tmp_path.iterdir()] == ["nothing_finite"]
    rows = [f"lake_ypacarai,immediate,{table.RIVAL},1,{move},0.1" for move in (25, 50)]
    (tmp_path / "botorch.csv").write_text("problem,feedback,method,seed,move,regret\n" + "\n".join(rows) + "\n")
    table.main(tmp_path)
    said = capsys.readouterr().out
    assert "| nothing given | 2 |" in said and "| BoTorch in the box | 1 |" in said and "for comparison" in said
