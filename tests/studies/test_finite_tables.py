"""The tables of the finite systems of the tournament, and the plants of the Catechol example, from data made up here."""

import csv
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tcbo_pyomo import load_problem, read_study, run_study
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.shipped_tables import written
from tcbo_pyomo.studies.study import study_from
from tcbo_pyomo.studies.study_tables import RUN_COLUMNS

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def script(monkeypatch):
    """Import a script of an example by its folder and name, and forget it afterwards."""

    def imported(folder, name):
        monkeypatch.syspath_prepend(str(EXAMPLES / folder))
        monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__(name)

    yield imported
    for name in ("finite", "table", "figure", "catechol", "crowds"):
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


def test_small_results_give_the_same_table(script, tmp_path, capsys, monkeypatch):
    finite, table = script("tournament", "finite"), script("tournament", "table")
    study = read_study(EXAMPLES / "tournament" / "two_ridges.yaml").model_copy(update={"seeds": (1, 2)})
    quick = {"episodes": 2, "planner": {"linear": {"solver": "dynamic_programming"}}}
    study = study.model_copy(update={"settings": {**study.settings, **quick}})
    run_study(study, tmp_path / "whole" / "two_ridges", workers=1)
    table.main(tmp_path / "whole", "--small", str(tmp_path / "small"))
    printed = []
    for name in ("whole", "small"):
        finite.print_tables(tmp_path / name, ["two_ridges"])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and "| two_ridge_reactor, episodic | 2 |" in printed[0]
    assert list(finite.blocks(tmp_path / "small")) == []  # Only two_ridges is there.
    monkeypatch.setattr(finite, "SYSTEMS", ("two_ridges",))
    readme = tmp_path / "README.md"
    readme.write_text("<!-- finite, at the end of the budget -->\n\n<!-- end -->\n")
    table.main(tmp_path / "small", str(readme))
    lines = readme.read_text().splitlines()
    assert lines[1].startswith("| known, at the end of the budget |") and lines[3] in printed[0]


def continuous_runs(values, problem, feedback, seeds=range(1, 5)):
    """A regret for each method, which falls with the moves and differs between seeds."""
    rows = [
        (problem, feedback, method, "", seed, 1, 1, move, (value + 0.01 * seed) / move, None, 3)
        for method, value in values.items()
        for seed in seeds
        for move in range(1, 9)
    ]
    return pd.DataFrame(rows, columns=RUN_COLUMNS)


def test_rivals_of_the_reproduction_stand_beside_the_default(script, tmp_path, monkeypatch):
    table = script("tournament", "table")
    monkeypatch.setattr(table, "REPRODUCED", tmp_path / "reproduced")
    monkeypatch.setattr(table, "STUDIES", ("synchronous",))
    own = continuous_runs({"default": 0.1, "local_ucb": 0.3}, "branin2d", "immediate")
    rivals = continuous_runs({"MDP-BO-UCB": 0.2, "local_ucb": 9.0}, "branin2d", "immediate", range(1, 3))
    elsewhere = continuous_runs({"MDP-BO-UCB": 0.2}, "levy4d", "immediate")
    for folder, runs in (("whole", own), ("reproduced", pd.concat([rivals, elsewhere]))):
        (tmp_path / folder / "synchronous").mkdir(parents=True)
        runs.to_csv(tmp_path / folder / "synchronous" / "runs.csv", index=False)
    table.main(tmp_path / "whole", "--small", str(tmp_path / "small"))
    readme = tmp_path / "README.md"
    readme.write_text("<!-- branin2d, immediate -->\nold\n<!-- end -->\n<!-- synchronous counts at 100% -->\n\n<!-- end -->\n")
    table.main(tmp_path / "small", str(readme))
    lines = readme.read_text().splitlines()
    assert lines[1] == (
        "| branin2d, immediate, 2 to 4 seeds | 25 % | 50 % | 75 % | 100 % | default minus it at 50 % | at 100 % |"
    )
    # Differences by hand: 0.1 - 0.3 and 0.1 - 0.2 over 4 and 8 moves, the same on every seed.
    assert lines[4] == "| local_ucb | 0.16 | 0.081 | 0.054 | 0.041 (0.039 to 0.042) | **-0.05 ± 0** | **-0.025 ± 0** |"
    assert lines[5].startswith("| MDP-BO-UCB | 0.11 ") and "| **-0.025 ± " in lines[5] and "| **-0.013 ± " in lines[5]
    assert "| local_ucb | 1 | 0 | 0 | 1 of 1 |" in lines


def test_other_first_moves_and_drawn_functions_have_tables_of_their_own(script, tmp_path, monkeypatch):
    table = script("tournament", "table")
    monkeypatch.setattr(table, "REPRODUCED", tmp_path / "reproduced")
    methods = {
        "synchronous": {"default": 0.1, "local_ucb": 0.3},
        "first_move_drawn": {"drawn": 0.3},
        "drawn_thermal": {"default": 0.1, "local_ucb": 0.2},
    }
    for study, values in methods.items():
        (tmp_path / study).mkdir()
        continuous_runs(values, "branin2d", "immediate").to_csv(tmp_path / study / "runs.csv", index=False)
    found = dict(table.every_block(tmp_path))
    *title, row = found["first move"].splitlines()
    # Medians over seeds 1 to 4 of (value + 0.01 seed) / move; the differences are the same on every seed.
    assert row.startswith("| branin2d, immediate | 4 | 0.031 | 0.016 | drawn | 0.081 | 0.041 | **-0.05 ± ")
    assert "| **-0.025 ± " in row
    assert [line.count("|") for line in title] == [row.count("|")] * 2
    lines = found["branin2d, immediate, drawn functions"].splitlines()
    assert lines[0].startswith("| branin2d, immediate, drawn functions, 4 seeds | 25 % |")
    assert lines[3].startswith("| local_ucb | 0.11 | 0.056 | 0.038 | 0.028 (0.027 to 0.03) | **-0.025 ± ")


def test_an_empty_block_is_filled_without_touching_the_next():
    text = "<!-- one -->\n<!-- end -->\n\nbetween\n\n<!-- two -->\n<!-- end -->\n"
    filled = written(text, "one", "| 1 |\n| 2 |")
    assert filled == "<!-- one -->\n| 1 |\n| 2 |\n<!-- end -->\n\nbetween\n\n<!-- two -->\n<!-- end -->\n"
    assert written(filled, "one", "| 1 |\n| 2 |") == filled and written(filled, "three", "| 3 |") == filled


def test_the_readme_has_the_tables_of_the_shipped_results(script):
    folder = EXAMPLES / "tournament"
    table, text = script("tournament", "table"), (folder / "README.md").read_text(encoding="utf-8")
    for name, block in table.every_block(folder / "small_results"):
        assert f"<!-- {name} -->\n{block}\n<!-- end -->" in text, f"the README's {name} is not what the results say"


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


def test_the_study_files_are_those_of_the_tables(script):
    finite = script("tournament", "finite")
    table = script("tournament", "table")
    named = (*finite.STUDIES, *table.STUDIES, *table.UNSEEN, *table.ALONE, *table.FIRST_MOVES, "river_more_seeds")
    files = {path.stem for path in (EXAMPLES / "tournament").glob("*.yaml")}
    assert files == set(named), "a study file without a table, or a table without its study file"


def test_a_figure_has_a_panel_for_each_system_and_no_curve_from_quarters_of_a_finite_one(script, tmp_path):
    figure = script("tournament", "figure")
    for study, problem in (("thermal", "thermal_reactor"), ("two_ridges", "two_ridge_reactor")):
        methods = [method.label for method in read_study(EXAMPLES / "tournament" / f"{study}.yaml").methods]
        rows = [
            (problem, "immediate", method, "", seed, 1, move, move, 0.1 / move, None, 3)
            for method in methods
            for seed in (1, 2)
            for move in (10, 20, 30, 40)
        ]
        (tmp_path / study).mkdir()
        pd.DataFrame(rows, columns=RUN_COLUMNS).to_csv(tmp_path / study / "runs.csv", index=False)
    figure.main(tmp_path, ["thermal", "two_ridges"], tmp_path / "figures")
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["continuous.png"]
    assert (tmp_path / "figures" / "continuous.png").stat().st_size > 10_000
    whole = pd.concat([pd.DataFrame(rows, columns=RUN_COLUMNS).assign(move=move) for move in range(1, 41)])
    whole.to_csv(tmp_path / "two_ridges" / "runs.csv", index=False)
    figure.main(tmp_path, ["two_ridges"], tmp_path / "curves")
    assert [path.name for path in (tmp_path / "curves").iterdir()] == ["finite.png"]
