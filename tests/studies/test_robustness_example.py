"""The robustness example: every study file can be read, and a few short runs make a table with verdicts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest

from tcbo_pyomo import load_problem, read_study, run_study, settings_from
from tcbo_pyomo.studies.runs import feedback_label
from tcbo_pyomo.studies.study_tables import RUN_COLUMNS

FOLDER = Path(__file__).parents[2] / "examples" / "robustness"
STUDIES = sorted(FOLDER.glob("*.yaml"))


def loaded(name):
    specification = importlib.util.spec_from_file_location(f"robustness_{name}", FOLDER / f"{name}.py")
    module = sys.modules[specification.name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def systems_of(study):
    """Problems with their kinds of feedback, each problem's own where the study names none."""
    return [
        (entry.label, feedback_label(kind))
        for entry in study.problems
        for kind in study.feedback or (settings_from(dict(load_problem(entry.problem).settings)).feedback,)
    ]


def test_every_system_has_the_right_kernel_here_or_in_the_tournament():
    """There it is the default: the paper's systems have a kernel, and a given kernel is kept (`fit: auto`)."""
    studies = {study.name: study for study in map(read_study, STUDIES)}
    there = [read_study(FOLDER.parent / "tournament" / f"{name}.yaml") for name in loaded("table").THERE]
    here = [study for study in studies.values() if any(method.label == "right kernel" for method in study.methods)]
    for study in there:
        assert any(method.label == "default" and not method.settings for method in study.methods)
        assert set(studies["beliefs_continuous"].seeds) <= set(study.seeds)
    have = {system for study in (*here, *there) for system in systems_of(study)}
    assert have >= {system for study in studies.values() for system in systems_of(study)}


def test_the_right_kernel_is_taken_from_the_tournament(tmp_path, monkeypatch):
    table = loaded("table")
    study_of(tmp_path / "results", "nothing", {"nothing given": {1: 0.2, 2: 0.2}}, "levy4d")
    default = {"default": {seed: 0.1 * seed for seed in (1, 2, 3)}, "local_ucb": {1: 0.0}}
    study_of(tmp_path / "tournament", "synchronous", default, "levy4d")
    monkeypatch.setattr(table, "TOURNAMENT", tmp_path / "tournament")
    right, nothing = table.systems(tmp_path / "results")["levy4d", "immediate"]
    assert (right.belief, len(right.ends), len(nothing.ends)) == ("right kernel", 2, 2)
    assert nothing.times == pytest.approx(0.2 / 0.15)


def test_every_system_has_wrong_beliefs_and_nothing_given():
    studies = {study.name: study for study in map(read_study, STUDIES)}
    ranges = loaded("table").RANGES
    for name, study in studies.items():
        other = studies[name.replace("nothing", "beliefs").replace("right", "beliefs")]
        assert (study.seeds, study.settings) == (other.seeds, other.settings)
        assert set(systems_of(study)) <= set(systems_of(other))
        if "nothing" in name:
            assert systems_of(study) == systems_of(other)
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


def study_of(folder, name, regrets, problem="knorr_plain", feedback="immediate"):
    """Runs of two moves for each belief and seed; the regret is the same after both."""
    rows = [
        (problem, feedback, belief, "", seed, 1, 1, move, regret, None, 3)
        for belief, values in regrets.items()
        for seed, regret in values.items()
        for move in (1, 2)
    ]
    (folder / name).mkdir(parents=True)
    pd.DataFrame(rows, columns=RUN_COLUMNS).to_csv(folder / name / "runs.csv", index=False)


def test_the_short_table_has_times_the_right_kernel(tmp_path):
    table = loaded("table")
    right = {"right kernel": {1: 0.0, 2: 0.00725, 3: 0.0145}}  # 0, 2 and 4 % of the range.
    learned = {"learned from right": {1: 0.00725, 2: 0.00725, 3: 0.145}}
    study_of(tmp_path / "results", "beliefs_finite", right | learned)
    study_of(tmp_path / "results", "nothing_finite", {"nothing given": {seed: 0.145 for seed in (1, 2)}})
    readme = tmp_path / "README.md"
    readme.write_text("<!-- immediate -->\nold\n<!-- end -->\n")
    assert table.main(tmp_path / "results", str(readme)) == 1
    lines = readme.read_text().splitlines()
    assert lines[1:6] == [
        "| results at once | runs | knorr_plain |",
        "|---|---|---|",
        "| right kernel | 3 | 2.00% (4.00%) |",
        "| learned from right | 3 | 1 (33%) |",
        "| nothing given | 2 | **20** (100%) |",
    ]


def test_small_results_are_made_in_parts_and_say_the_same(tmp_path):
    table = loaded("table")
    regrets = {"right kernel": {seed: 0.001 * seed for seed in range(1, 9)}}
    study_of(tmp_path / "whole", "beliefs_finite", regrets)
    for name, seeds in (("first", range(1, 5)), ("second", range(4, 9))):
        part = {"right kernel": {seed: regrets["right kernel"][seed] for seed in seeds}}
        study_of(tmp_path / name, "beliefs_finite", part)
        (tmp_path / name / "botorch.csv").write_text(
            "problem,feedback,method,seed,move,regret\n"
            f"knorr_plain,immediate,{table.RIVAL},{seeds[0]},1,0.1\nknorr_plain,immediate,{table.RIVAL},{seeds[0]},2,0.1\n"
        )
        table.main(tmp_path / name, "--small", str(tmp_path / "small"))
    (row, rival), (whole,) = (table.systems(tmp_path / name)["knorr_plain", "immediate"] for name in ("small", "whole"))
    assert row.cells() == whole.cells() and len(rival.ends) == 2


def test_the_readme_has_the_tables_of_the_shipped_results():
    table, text = loaded("table"), (FOLDER / "README.md").read_text(encoding="utf-8")
    for name, block in table.blocks(table.systems(FOLDER / "small_results")):
        assert f"<!-- {name} -->\n{block}\n<!-- end -->" in text, f"the README's {name} is not what the results say"
