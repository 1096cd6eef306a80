"""The tables of the finite systems of the tournament, and the plants of the Catechol example, from data made up here."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from tcbo_pyomo import load_problem, run_study
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.study import study_from

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def script(monkeypatch):
    """Import a script of an example by its folder and name, and forget it afterwards."""

    def imported(folder, name):
        monkeypatch.syspath_prepend(str(EXAMPLES / folder))
        monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__(name)

    yield imported
    for name in ("finite", "catechol", "crowds"):
        sys.modules.pop(name, None)


def test_differences_are_shares_of_the_range_on_common_seeds(script, tmp_path, capsys):
    finite = script("tournament", "finite")
    methods = [{"method": "mdp_bo", "name": "default"}, "random_walk"]
    quick = {"episodes": 1, "planner": {"linear": {"solver": "dynamic_programming"}}}
    study = {"name": "small", "problems": ["knorr_pyrazole"], "methods": methods, "seeds": "1..3", "settings": quick}
    run_study(study_from(study), tmp_path / "small", workers=1)
    (system,) = finite.systems(tmp_path, ["small"])
    problem = load_problem("knorr_pyrazole")
    with open(tmp_path / "small" / "runs.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["move"] == "10"]
    regret = {(row["method"], int(row["seed"])): float(row["regret"]) for row in rows}
    gaps = [regret["default", seed] - regret["random_walk", seed] for seed in (1, 2, 3)]
    share = 100.0 / (problem.truth[problem.search_space].max() - problem.truth[problem.search_space].min())
    mean, half = system.compared(1.0, "random_walk")
    assert mean == pytest.approx(share * np.mean(gaps))
    # Student's t with two degrees of freedom.
    assert half == pytest.approx(share * 4.302652730 * np.std(gaps, ddof=1) / 3**0.5, rel=1e-6)
    finite.print_tables(tmp_path, ["small"])
    printed = capsys.readouterr().out
    assert "| knorr_pyrazole, episodic | 3 |" in printed and "| non-inferior on | | |" in printed


def test_marks_and_pooling(script):
    finite = script("tournament", "finite")
    assert finite._cell(-2.0, 1.0) == "**-2.00 ± 1.00**"
    assert finite._cell(0.5, 0.4) == "_+0.50 ± 0.40_"
    assert finite._cell(0.5, 0.6) == "+0.50 ± 0.60 !"
    mean, half = finite._pooled([(1.0, 3.0), (-3.0, 4.0)])
    assert (mean, half) == (pytest.approx(-1.0), pytest.approx(2.5))


def rows_of(number, names):
    columns = (
        [number] * 4,
        [0.0, 0.2, 0.4, 0.4],
        [5.0, 5.0, 8.0, 8.0],
        [200.0] * 4,
        [0.1, 0.2, 0.5, 0.4],
        [0.0, 0.1, 0.2, 0.1],
    )
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def write_yields(path, names):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows([*rows_of(2, names), *rows_of(3, names)])


@pytest.mark.parametrize("own_names", [False, True])
def test_even_experiments_are_plants_of_their_measured_rows(script, tmp_path, own_names):
    catechol = script("catechol", "catechol")
    names = list(catechol.NAMES.values() if own_names else catechol.NAMES)
    write_yields(tmp_path / "yields.csv", names)
    (file,) = catechol.write_plants(tmp_path / "yields.csv", tmp_path / "out")
    assert file.name == "experiment_2.py"
    problem = load_problem(str(file), "immediate")
    # The temperature did not vary; the last two rows are replicates: 0.5 + 0.2 and 0.4 + 0.1.
    assert [axis.name for axis in problem.coordinates] == ["fraction_b", "residence_time"]
    assert sorted(problem.truth.tolist()) == pytest.approx([0.1, 0.3, 0.6])
    before = file.stat().st_mtime_ns
    catechol.write_plants(tmp_path / "yields.csv", tmp_path / "out")
    assert file.stat().st_mtime_ns == before


def test_functions_drawn_on_these_plants_have_a_study_and_a_table_of_their_own(script, tmp_path, capsys, monkeypatch):
    catechol = script("catechol", "catechol")
    monkeypatch.setattr(catechol, "METHODS", [{"method": "mdp_bo", "name": "default"}, "local_ucb"])
    write_yields(tmp_path / "yields.csv", list(catechol.NAMES))
    catechol.main(tmp_path / "yields.csv", tmp_path / "out", "1..2", drawn=True)
    table = capsys.readouterr().out
    assert "| drawn, lengthscale x , at the end of the budget |" not in table
    assert "| drawn, at the end of the budget | seeds | default | local_ucb |" in table
    assert table.count("| experiment_2, episodic | 2 |") == 2
    assert not (tmp_path / "out" / "catechol").exists()


def test_crowds_are_compared_with_every_row_for_itself(script, tmp_path, capsys, monkeypatch):
    catechol, crowds = script("catechol", "catechol"), script("catechol", "crowds")
    monkeypatch.setattr(crowds, "FEWEST_STATES", 1)
    write_yields(tmp_path / "yields.csv", list(catechol.NAMES))
    crowds.main(tmp_path / "yields.csv", tmp_path / "out", "1..2")
    lines = capsys.readouterr().out.splitlines()
    plants = ["| experiment_2, episodic", "| experiment_2, immediate", "| **all**"]
    assert [line.split(" | ")[0] for line in lines[2:]] == plants
    # Three rows far from each other are no crowd: both ways are the same.
    assert all(line.endswith("| +0.00 ± 0.00 |") for line in lines[2:])


def test_a_table_without_a_column_is_refused(script, tmp_path):
    catechol = script("catechol", "catechol")
    (tmp_path / "yields.csv").write_text("EXP NUM,Temperature\n2,200\n")
    with pytest.raises(BadInput, match="has no column fraction_b; it needs experiment, "):
        catechol.write_plants(tmp_path / "yields.csv", tmp_path / "out")
    with pytest.raises(BadInput, match="is not a file; give the path of"):
        catechol.write_plants(tmp_path / "none.csv", tmp_path / "out")


def test_the_study_files_of_the_finite_systems_are_those_of_the_tables(script):
    finite = script("tournament", "finite")
    assert all((EXAMPLES / "tournament" / f"{name}.yaml").exists() for name in finite.STUDIES)
