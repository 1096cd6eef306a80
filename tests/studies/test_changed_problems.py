"""A changed problem is seen: runs that it determines are made anew, with the reason, and no run mixes two problems."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tcbo_pyomo import load_problem
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.records.determining_parts import changed_parts, problem_parts
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.studies import read_study, run_study
from tcbo_pyomo.studies.execution import execute
from tcbo_pyomo.studies.runs import runs_of

HERE = Path(__file__).parent
LINE = """
import own_limits_{number}
import numpy as np
from tcbo_pyomo import Problem, grid_process
from tcbo_pyomo.models.constraints.visit_budget import VisitBudget
from tcbo_pyomo.models.regions.regions import Box
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

HIGH, EPISODES, LIMIT, WIDTH = 1.0, 1, 2.0, 0.4


def build(feedback=None, seed=0):
    process = grid_process({{"x": [0.0, 1.0, 2.0, 3.0]}}, {{"x": [-1, 0, own_limits_{number}.STEP]}}, 1e-3)
    return Problem(
        name="line", process=process, start={{"x": 0.0}}, horizon=3, episodes=EPISODES,
        kernel=SquaredExponential(1.0, WIDTH), truth=HIGH * np.sin(process.states[:, 0]) + seed,
        constraints=[VisitBudget(Box({{"x": (2, 3)}}), LIMIT)],
    )
"""
METHOD = """
from tcbo_pyomo.methods.greedy_ucb import GreedyUcb

class Own(GreedyUcb):
    BONUS = 1.0
"""
counter = iter(range(1000))


@pytest.fixture
def rig(tmp_path, monkeypatch):
    """A problem file that imports a module, a method of the user's, and a study of both."""
    number = next(counter)
    (tmp_path / "line.py").write_text(LINE.format(number=number))
    (tmp_path / f"own_limits_{number}.py").write_text("STEP = 1\n")
    (tmp_path / f"own_method_{number}.py").write_text(METHOD)
    text = f"name: s\nproblems: [line.py]\nmethods: ['own_method_{number}:Own']\nseeds: [1, 2]\n"
    (tmp_path / "s.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def tcbo(*arguments):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "tcbo_pyomo", *arguments], capture_output=True, text=True, timeout=300, env=environment
    )


def test_a_changed_truth_is_run_anew_and_the_reason_is_said(rig):
    assert tcbo("study", "s.yaml", "--workers", "1").returncode == 0
    before = pd.read_csv("s/runs.csv")
    edited(rig / "line.py", "HIGH, EPISODES, LIMIT, WIDTH = 1.0", "HIGH, EPISODES, LIMIT, WIDTH = 10.0")
    planned = tcbo("study", "s.yaml", "--dry-run")
    assert "changed since the last time: file line.py, truth; 2 runs are repeated (line)" in planned.stdout
    again = tcbo("study", "s.yaml", "--workers", "1")
    assert again.returncode == 0, again.stderr
    assert "changed since the last time: file line.py, truth; 2 runs are repeated (line)" in again.stderr
    assert "made before" not in again.stderr
    after = pd.read_csv("s/runs.csv")
    assert (after["regret"].iloc[0] > 2 * before["regret"].iloc[0]) and len(after) == len(before)
    third = tcbo("study", "s.yaml", "--workers", "1")
    assert "changed" not in third.stderr and "2 of 2 runs were finished before" in third.stderr
    edited(rig / "line.py", "HIGH, EPISODES, LIMIT, WIDTH = 10.0", "HIGH, EPISODES, LIMIT, WIDTH = 1.0")
    back = tcbo("study", "s.yaml", "--workers", "1")
    assert "2 of 2 runs were finished before" in back.stderr
    assert pd.read_csv("s/runs.csv").equals(before)


@pytest.mark.parametrize(
    ("file", "old", "new", "part"),
    [
        ("line.py", "1.0, 1, 2.0, 0.4", "1.0, 2, 2.0, 0.4", "episodes"),
        ("line.py", "1.0, 1, 2.0, 0.4", "1.0, 1, 1.0, 0.4", "limits"),
        ("line.py", "1.0, 1, 2.0, 0.4", "1.0, 1, 2.0, 0.5", "prior"),
        ("own_limits", "STEP = 1", "STEP = 2", "file own_limits"),
        ("own_method", "BONUS = 1.0", "BONUS = 2.0", "file own_method"),
    ],
)
def test_every_part_of_the_key_counts(rig, file, old, new, part):
    def made():
        done = tcbo("study", "s.yaml", "--dry-run")
        assert done.returncode == 0, done.stderr
        return done.stdout

    run_study(read_study("s.yaml"), "s", workers=1, search_path=str(rig))
    assert "changed" not in made()
    (path,) = rig.glob(f"{file}*")
    edited(path, old, new)
    assert part in made() and "2 runs are repeated" in made()


def test_other_seeds_and_another_place_are_no_change(rig, tmp_path_factory):
    study = read_study("s.yaml")
    keys = {run.seed: run.key for run in runs_of(study, str(rig))}
    assert {run.seed: run.key for run in runs_of(study.model_copy(update={"seeds": (2,)}), str(rig))} == {2: keys[2]}
    moved = tmp_path_factory.mktemp("moved")
    for path in rig.glob("*.py"):
        shutil.copy(path, moved)
    shutil.copy(rig / "s.yaml", moved)
    assert {run.seed: run.key for run in runs_of(read_study(moved / "s.yaml"), str(rig))} == keys


def test_a_file_that_is_edited_while_the_study_runs_is_an_error_of_the_run(rig):
    first, second = runs_of(read_study("s.yaml"), str(rig))
    assert "error" not in execute(first)
    edited(rig / "line.py", "HIGH, EPISODES, LIMIT, WIDTH = 1.0", "HIGH, EPISODES, LIMIT, WIDTH = 2.0")
    assert "file line.py changed after the study began" in execute(second)["error"]


def test_runs_of_an_older_version_count_until_something_changes(rig):
    """A folder of 0.1.0 does not say what its runs were made with: they count as made with what is there now."""
    fixture = HERE.parent / "records" / "files_of_0_1_0"
    for name in ("dosed_tanks", "dosed_tank.py", "dosed_tanks.yaml"):
        source = fixture / name
        shutil.copytree(source, rig / name) if source.is_dir() else shutil.copy(source, rig)
    seen = []
    yaml = (rig / "dosed_tanks.yaml").read_text()
    # What was the default then is named, so that the moves are those of then.
    (rig / "dosed_tanks.yaml").write_text(yaml.replace("settings: {pl", "settings: {utility: {objective: differences}, pl"))
    run_study(read_study("dosed_tanks.yaml"), "dosed_tanks", workers=1, extend=True, on_progress=seen.append)
    assert seen[0].done == 4 and not seen[0].changes
    text = (rig / "dosed_tank.py").read_text()
    (rig / "dosed_tank.py").write_text(text + "\nCHANGED = True\n")
    for made in (4, 8):  # Four are of a shipped problem; what was made anew counts the second time.
        seen.clear()
        run_study(read_study("dosed_tanks.yaml"), "dosed_tanks", workers=1, on_progress=seen.append)
        assert (seen[0].done, seen[-1].done) == (made, 8)
        again = "changed since the last time: file dosed_tank.py; 4 runs are repeated (dosed_tank)"
        assert seen[0].changes == ((again,) if made == 4 else ())


def test_a_continuous_truth_and_its_limits_are_parts():
    problem = load_problem("branin2d")
    before = problem_parts(problem)
    assert changed_parts(before, problem_parts(load_problem("branin2d"))) == []
    assert changed_parts(before, problem_parts(problem.changed(maximum=99.0))) == ["truth"]
    shifted = problem.changed(truth=lambda points: np.asarray(problem.truth(points)) + 1e-3)
    assert changed_parts(before, problem_parts(shifted)) == ["truth"]
    obstacles = load_problem("hartmann3d_obstacles")
    rule = obstacles.rules[0]
    name, value = next(iter(rule.named_limits().items()))
    smaller = rule.with_limit(name, value * 0.5)
    other = obstacles.changed(constraints=[smaller, *obstacles.rules[1:]])
    assert changed_parts(problem_parts(obstacles), problem_parts(other)) == ["limits"]


def test_an_interrupted_run_refuses_a_changed_problem_and_says_what_changed(rig):
    from tcbo_pyomo import Campaign
    from tcbo_pyomo.campaign.simulation import Simulation
    from tcbo_pyomo.records.json_file import resume_simulation, run_parts, save_simulation

    simulation = Simulation(Campaign(load_problem("line.py", seed=1), seed=1))
    simulation._make_move()
    save_simulation(simulation, "unfinished.json", run_parts(simulation.campaign, "line.py"))
    assert len(resume_simulation("unfinished.json", "line.py").run().steps) == 3
    (limits,) = rig.glob("own_limits*")
    edited(limits, "STEP = 1", "STEP = 1  # not yet used")
    with pytest.raises(
        BadInput, match=r"another problem than the present 'line'; changed: file own_limits_\d+.py; restore"
    ):
        resume_simulation("unfinished.json", "line.py")
    edited(rig / "line.py", "1.0, 1, 2.0, 0.4", "3.0, 1, 2.0, 0.4")
    with pytest.raises(BadInput, match=r"changed: file line.py, file own_limits_\d+.py, truth; restore"):
        resume_simulation("unfinished.json", "line.py")
    # A problem that is made in Python has no files; its truth counts all the same.
    with pytest.raises(BadInput, match=r"changed: truth; restore"):
        resume_simulation("unfinished.json", load_problem("line.py", seed=1))
    edited(rig / "line.py", "0.4\n", "0.9\n")
    with pytest.raises(BadInput, match=r"changed: prior, truth; restore"):
        resume_simulation("unfinished.json", load_problem("line.py", seed=1))


NUMBERS_ELSEWHERE = """
import json
from pathlib import Path
import numpy as np
from tcbo_pyomo import BoxActions, ContinuousProblem, Coordinate, MaximumStep, NonlinearDynamics, ResourceBudget
from tcbo_pyomo import SquaredExponential

AXES = (Coordinate("x", 0.0, 10.0),)
GIVEN = json.loads(Path(__file__).with_name("numbers.json").read_text())


def step(model, step):
    return {"x": model.physical[step, "x"] + GIVEN["gain"] * model.action[step, "u"]}


def build(feedback=None, seed=0):
    rules = [MaximumStep({"x": GIVEN["step"]})]
    rules += [ResourceBudget("use", lambda left, right: GIVEN["price"] * (right["x"] - left["x"]) ** 2, 9.0)]
    return ContinuousProblem(
        name="box", coordinates=AXES, dynamics=NonlinearDynamics(AXES, step, BoxActions({"u": 1.0})), start={"x": 5.0},
        horizon=2, episodes=1, kernel=SquaredExponential(1.0, 0.4), noise=1e-3, truth=lambda points: np.sin(points[:, 0]),
        constraints=rules,
    )
"""
OWN_ROWS = """
import json
from pathlib import Path
import numpy as np
import pyomo.environ as pyo
from tcbo_pyomo import Problem, SquaredExponential, TransitionConstraint, grid_process

GIVEN = json.loads(Path(__file__).with_name("numbers.json").read_text())


class Share(TransitionConstraint):
    def add_to_polytope(self, model):
        model.share = pyo.Constraint(expr=sum(GIVEN["price"] * one for one in model.visitation.values()) <= 99.0)


def build(feedback=None, seed=0):
    process = grid_process({"x": [0.0, 1.0, 2.0]}, {"x": [0, 1]}, 1e-3)
    return Problem(
        name="rows", process=process, start={"x": 0.0}, horizon=2, episodes=1, kernel=SquaredExponential(1.0, 0.4),
        truth=np.sin(process.states[:, 0]), constraints=[Share()],
    )
"""


@pytest.mark.parametrize(
    ("text", "name"), [(NUMBERS_ELSEWHERE, name) for name in ("gain", "step", "price")] + [(OWN_ROWS, "price")]
)
def test_numbers_that_a_problem_reads_from_a_file_count(tmp_path, monkeypatch, text, name):
    """The source is the same; what its dynamics and rules come to is not."""
    from tcbo_pyomo import Campaign
    from tcbo_pyomo.campaign.simulation import Simulation
    from tcbo_pyomo.records.json_file import resume_simulation, run_parts, save_simulation

    monkeypatch.chdir(tmp_path)
    numbers = {"gain": 1.0, "step": 1.0, "price": 1.0}
    (tmp_path / "own.py").write_text(text)
    (tmp_path / "numbers.json").write_text(json.dumps(numbers))
    (tmp_path / "s.yaml").write_text("name: s\nproblems: [own.py]\nmethods: [random_walk]\nseeds: [1]\n")
    study, seen = read_study("s.yaml"), []
    run_study(study, "s", workers=1)
    run_study(study, "s", workers=1, on_progress=seen.append)
    assert seen[0].done == 1 and not seen[0].changes
    simulation = Simulation(Campaign(load_problem("own.py", seed=1), settings_from({"method": "random_walk"}), seed=1))
    save_simulation(simulation, "unfinished.json", run_parts(simulation.campaign, "own.py"))
    assert resume_simulation("unfinished.json", "own.py") is not None
    (tmp_path / "numbers.json").write_text(json.dumps(numbers | {name: 0.5}))
    seen.clear()
    run_study(study, "s", workers=1, on_progress=seen.append)
    part = "limits" if name == "step" else "numbers of rules and dynamics"
    assert seen[0].changes == (f"changed since the last time: {part}; 1 run is repeated (own)",) and seen[0].done == 0
    with pytest.raises(BadInput, match=f"changed: {part}; restore"):
        resume_simulation("unfinished.json", "own.py")


def test_a_shipped_problem_goes_on_by_its_name_and_as_an_object(tmp_path):
    from tcbo_pyomo import Campaign
    from tcbo_pyomo.campaign.simulation import Simulation
    from tcbo_pyomo.records.json_file import resume_simulation, run_parts, save_simulation

    simulation = Simulation(Campaign(load_problem("thermal_reactor", seed=1), settings_from({"method": "random_walk"}), seed=1))
    for source in (None, "thermal_reactor"):
        save_simulation(simulation, tmp_path / "unfinished.json", run_parts(simulation.campaign, source))
        for given in ("thermal_reactor", load_problem("thermal_reactor", seed=1)):
            assert resume_simulation(tmp_path / "unfinished.json", given) is not None
