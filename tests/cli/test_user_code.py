"""What the user's own code does wrong is one line that names its file and line, exit code 2; what it prints is no result."""

import json
import re

import pytest

from tcbo_pyomo.cli.main import main

LINE = """
import numpy as np
from dataclasses import dataclass
from tcbo_pyomo import Problem, ResourceBudget, SquaredExponential, TransitionConstraint, grid_process

@dataclass(frozen=True)
class Own(SquaredExponential):
    def __call__(self, left, right):
        value = super().__call__(left, right)
        {kernel}

class Rule(TransitionConstraint):
    def allowed_transitions(self, process):
        value = None
        {rule}

    def add_to_polytope(self, model):
        value = None
        {rows}

def cost(left, right):
    value = abs(right["x"] - left["x"])
    {cost}

def true(value):
    {truth}

def build(feedback=None, seed=0):
    process = grid_process({{"x": [0.0, 1.0, 2.0, 3.0]}}, {{"x": [-1, 0, 1]}}, 1e-3)
    value = Problem(
        name="line", process=process, start={{"x": 0.0}}, horizon=3, episodes=1, kernel=Own(1.0, 0.4),
        truth=true(np.sin(process.states[:, 0])), constraints=[Rule(), ResourceBudget("c", cost, limit=2.0)],
    )
    {build}
"""
BOX = """
import numpy as np
from dataclasses import dataclass
from tcbo_pyomo import (
    BoxActions, ContinuousProblem, Coordinate, NonlinearDynamics, ResourceBudget, SquaredExponential, TransitionConstraint
)

X = Coordinate("x", 0.0, 10.0)

@dataclass(frozen=True)
class Own(SquaredExponential):
    def __call__(self, left, right):
        value = super().__call__(left, right)
        {kernel}

class Rule(TransitionConstraint):
    def allowed_points(self, coordinates, points):
        value = np.ones(len(points), dtype=bool)
        {rule}

    def add_to_trajectory(self, model):
        value = None
        {rows}

    def describe(self, coordinates):
        value = "as it likes"
        {words}

def cost(left, right):
    value = (right["x"] - left["x"]) ** 2
    {cost}

def truth(points):
    value = np.sin(points[:, 0])
    {truth}

def step(model, step):
    value = {{"x": model.physical[step, "x"] + model.action[step, "u"]}}
    {dynamics}

def build(feedback=None, seed=0):
    value = ContinuousProblem(
        name="box", coordinates=(X,), dynamics=NonlinearDynamics((X,), step, BoxActions({{"u": (-3.0, 3.0)}})),
        start={{"x": 5.0}}, horizon=2, episodes=1, kernel=Own(1.0, 0.4), noise=1e-3, truth=truth,
        constraints=[Rule(), ResourceBudget("c", cost, limit=99.0)],
        settings={{"candidates": {{"count": 5}}}},
    )
    {build}
"""
PLACES = {"line": (LINE, "kernel rule rows cost truth build"), "box": (BOX, "kernel rule rows words cost truth dynamics build")}
RAISES = "raise ValueError('the pump\\nis broken')"
PRINTS = "print('hello from', __name__); return value"
ANSWERS = {
    "text": "return 'abc'",
    "complex numbers": "return np.asarray(value) * 1j",
    "another shape": "return np.zeros((7, 3))",
    "nothing": "return None",
    "an exit": "raise SystemExit(0)",
    "an end that is no error": "raise GeneratorExit",
}
COVARIANCES = {
    "negative": ("return -value", "not positive semi-definite"),
    "shifted": ("return value - 0.9", "not positive semi-definite"),
    "asymmetric": ("return value * np.arange(1, len(left) + 1)[:, None]", "not symmetric"),
    "another diagonal": ("return value + 1.0", "variances that differ from its diagonal"),
}


def written(folder, kind, **code):
    text, places = PLACES[kind]
    (folder / "own.py").write_text(text.format(**{place: "return value" for place in places.split()} | code))


@pytest.fixture
def tcbo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as exit_:
            main(list(arguments))
        return exit_.value.code, *capsys.readouterr()

    return call


def assert_one_line(code, out, err):
    assert code == 2 and out == ""
    assert err.startswith("error: ") and err.count("\n") == 1
    assert re.search(r"own\.py', line \d+", err), err
    return err


ALL_PLACES = [(kind, place) for kind, (_, places) in PLACES.items() for place in places.split()]


@pytest.mark.parametrize(("kind", "place"), ALL_PLACES)
def test_code_that_raises(tcbo, tmp_path, kind, place):
    written(tmp_path, kind, **{place: RAISES})
    assert "ValueError: the pump" in assert_one_line(*tcbo("run", "own.py"))


@pytest.mark.parametrize(("kind", "place"), ALL_PLACES)
def test_code_that_prints_leaves_json_as_it_is(tcbo, tmp_path, kind, place):
    written(tmp_path, kind, **{place: PRINTS})
    code, out, err = tcbo("run", "own.py")
    assert code == 0, err
    assert "hello from" in err and "hello" not in out and out.count("recommendation: ") == 1
    assert tcbo("start", "c.db", "own.py")[0] == 0
    for arguments in (("ask", "c.db", "--json"), ("status", "c.db", "--json")):
        code, out, err = tcbo(*arguments)
        assert code == 0 and isinstance(json.loads(out), dict)
    code, out, _ = tcbo("ask", "c.db", "--csv")
    assert code == 0 and out.startswith("move,")


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize(("kind", "place"), [p for p in ALL_PLACES if p[1] != "rows" and p != ("line", "truth")])
def test_code_that_returns_something_else(tcbo, tmp_path, kind, place, answer):
    if place == "rule" and answer == "nothing":
        pytest.skip("a rule may have nothing to say")
    code = ANSWERS[answer]
    if place in ("build", "rule"):
        code = code.replace("np.asarray(value)", "1.0")
    if place == "words":
        code = code.replace("'abc'", "b'abc'").replace("np.asarray(value) ", "1 ")
    if (kind, place) == ("box", "cost"):
        code = code.replace("np.asarray(value) ", "1 ")
    if place == "dynamics":
        code = code.replace("np.asarray(value) * 1j", "{'x': value['x'] * 1j}")
        code = code.replace("np.zeros((7, 3))", "{'x': np.zeros(3)}")
    written(tmp_path, kind, **{place: code})
    started = tcbo("start", "c.db", "own.py")
    assert_one_line(*(started if place == "words" else tcbo("run", "own.py")))


def test_a_cost_that_is_the_same_for_every_move(tcbo, tmp_path):
    written(tmp_path, "box", cost="return 40.0")
    code, out, err = tcbo("run", "own.py")
    assert code == 0 and "recommendation: " in out, err
    written(tmp_path, "box", cost="return 50.0")  # Two moves need more than the 99 of an episode.
    assert "100 used, the budget is 99" in tcbo("run", "own.py")[2]
    written(tmp_path, "box", cost="return -1.0")
    assert "costs must not be negative" in assert_one_line(*tcbo("run", "own.py"))


def test_dynamics_that_forget_a_coordinate(tcbo, tmp_path):
    written(tmp_path, "box", dynamics="return {}")
    assert "no next value of x" in assert_one_line(*tcbo("run", "own.py"))


def test_a_check_names_the_line_too(tcbo, tmp_path):
    written(tmp_path, "box", dynamics=RAISES)
    code, out, _ = tcbo("check", "own.py")
    assert code == 2 and re.search(r"own\.py',\s+line \d+", out), out


@pytest.mark.parametrize("answer", ["text", "complex numbers", "another shape", "an exit"])
def test_a_truth_of_states_that_is_something_else(tcbo, tmp_path, answer):
    written(tmp_path, "line", truth=ANSWERS[answer])
    assert_one_line(*tcbo("run", "own.py"))


@pytest.mark.parametrize("fault", COVARIANCES)
@pytest.mark.parametrize("kind", PLACES)
def test_a_kernel_that_is_no_covariance(tcbo, tmp_path, kind, fault):
    code, words = COVARIANCES[fault]
    written(tmp_path, kind, kernel=code)
    assert words in assert_one_line(*tcbo("run", "own.py"))
    assert_one_line(*tcbo("start", "c.db", "own.py"))
    assert not (tmp_path / "c.db").exists()


def test_a_truth_without_a_maximum_runs_and_its_regret_is_unknown(tcbo, tmp_path):
    written(tmp_path, "box")
    code, out, err = tcbo("run", "own.py", "--output", "run")
    assert code == 0, err
    assert "regret" in out and "unknown" in out and "identified" not in out
    assert json.loads((tmp_path / "run" / "result.json").read_text())["episodes"][0]["regret"] is None
    assert tcbo("report", "run", "--problem", "own.py", "--output", "page.html")[0] == 0
    (tmp_path / "s.yaml").write_text("name: s\nproblems: [own.py]\nseeds: [1, 2]\n")
    code, out, err = tcbo("study", "s.yaml", "--workers", "1")
    assert code == 0, err
    assert tcbo("figures", "s")[0] == 0


def test_a_fault_of_ours_is_one_line_too(tcbo, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("in the\npackage")

    monkeypatch.setattr("tcbo_pyomo.foundation.settings_file.settings_template", broken)
    monkeypatch.setattr("tcbo_pyomo.foundation.user_lines.is_users", lambda name: False)  # This file is no user's.
    code, out, err = tcbo("settings")
    assert (code, out) == (70, "") and err.count("\n") == 1
    assert "a fault of tcbo_pyomo" in err and "ZeroDivisionError: in the package" in err and "TCBO_TRACEBACK=1" in err
    monkeypatch.setenv("TCBO_TRACEBACK", "1")
    assert "Traceback" in tcbo("settings")[2]


WRONG_CALLS = {
    "rows of a finite plant": (LINE, "def add_to_polytope(self, model)", "def add_to_polytope(self, model, process, more)"),
    "rows of a box": (BOX, "def add_to_trajectory(self, model)", "def add_to_trajectory(self)"),
    "rule": (LINE, "def allowed_transitions(self, process)", "def allowed_transitions()"),
    "kernel": (LINE, "def __call__(self, left, right)", "def __call__(self, left)"),
    "cost": (LINE, "def cost(left, right)", "def cost(left, right, more)"),
    "truth": (BOX, "def truth(points)", "def truth(points, *, sharply)"),
    "dynamics": (BOX, "def step(model, step)", "def step(model)"),
}


@pytest.mark.parametrize("what", WRONG_CALLS)
def test_code_that_takes_other_arguments_than_it_is_given(tcbo, tmp_path, what):
    kind, right, wrong = WRONG_CALLS[what]
    places = PLACES["line" if kind is LINE else "box"][1].split()
    text = kind.format(**dict.fromkeys(places, "return value"))
    assert text.count(right) == 1
    (tmp_path / "own.py").write_text(text.replace(right, wrong))
    assert_one_line(*tcbo("run", "own.py"))
