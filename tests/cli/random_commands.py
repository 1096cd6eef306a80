"""Random command lines: every command that there is, its options as Typer knows them, with sensible and odd values."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import typer

from tcbo_pyomo.cli.main import _command_names, app

LINE = """
import numpy as np
from tcbo_pyomo import Problem, ResourceBudget, SquaredExponential, grid_process

def build(feedback=None, seed=0):
    process = grid_process({"x": [0.0, 1.0, 2.0, 3.0], "t": [10.0, 20.0]}, {"x": [-1, 0, 1], "t": [0, 1]}, 1e-3, {"t": "K"})
    return Problem(
        name="line", process=process, start={"x": 0.0, "t": 10.0}, horizon=3, episodes=4,
        kernel=SquaredExponential(1.0, 0.4), truth=np.sin(process.states[:, 0]), output_unit="%",
        constraints=[ResourceBudget("use", lambda left, right: abs(right["x"] - left["x"]), limit=2.0)],
    )
"""
BOX = """
import numpy as np
from tcbo_pyomo import ContinuousProblem, Coordinate, LinearDynamics, NormActions, SquaredExponential

def build(feedback=None, seed=0):
    return ContinuousProblem(
        name="box", coordinates=(Coordinate("x", 0.0, 10.0, "m"),),
        dynamics=LinearDynamics.free_moves(1, NormActions(0.3)), start={"x": 5.0}, horizon=2, episodes=2,
        kernel=SquaredExponential(1.0, 0.4), noise=1e-3, truth=lambda points: np.sin(points[:, 0]),
        settings={"candidates": {"count": 3}},
    )
"""
STUDY = "name: s\nproblems: [line.py]\nmethods: [greedy_ucb]\nseeds: 1..2\nsettings: {episodes: 1}\n"
NEVER = {"solvers", "problems"}
"""They take no input, and trying every solver takes seconds."""
CAMPAIGNS = ["c.db", "c.db", "c.db", "c.db", "d.db", "d.db", "box.db"]
PLACES = [
    "junk.db",
    "empty.db",
    "folder",
    "nowhere.db",
    "saved.json",
    "run",
    "t.csv",
    "line.py",
    "/dev/null",
    "",
    "ä ö.db",
    "a" * 300,
]
PROBLEMS = [
    "line.py",
    "line.py",
    "box.py",
    "broken.py",
    "nowhere.py",
    "knorr_pyrazole",
    "no_such",
    "",
    "folder",
    "../line.py",
]
NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "0.5",
    "1e308",
    "-1e-300",
    "nan",
    "inf",
    "1_0",
    "1e999",
    "9" * 30,
    "abc",
    "",
    " ",
    "35 %",
    "½",
]
ASSIGNMENTS = [
    "x=1", "x=2", "t=10", "t=20", "t=293 K", "x=nan", "x=9", "=", "x=", "=1", "x=1e400", "nothing=1", "episodes=2",
    "episodes=0",
    "feedback.kind=episodic", "feedback.delay=2", "planner.components=2", "planner.gap=0.1", "candidates.rule=nothing",
    "candidates.rule=os:system", "method=greedy_ucb", "method=nothing", "start={x: 1, t: 10}", "constraints=[{use: end_at}]",
    "planner.linear.solver=nothing", "a.b.c=1", "x=[1", "x={a: &b 1}", "use.limit=1", "resource_budget.limit=1", "horizon=2",
    "planner.linear.solver=dynamic_programming", "planner.nonlinear.time_limit=1e-9", "surrogate.features=nystroem",
    "limit=3 K",
]  # fmt: skip
TEXTS = [
    "", "a", "key 1", "x" * 500, "\x07", "\u202e", "K", "%", "percent", "m**9**9**9",
    "immediate", "delayed", "mdp_bo", "greedy_ucb", "1..2",
]  # fmt: skip
TABLES = ["t.csv", "results.csv", "bad.csv", "empty.csv", "nowhere.csv", "folder", "/dev/zero", "c.db"]
OUTPUTS = [
    "out.csv",
    "out.html",
    "page.html",
    "c.db",
    "folder",
    "no/where.csv",
    "/dev/null",
    "picture.png",
    "new_run",
    "d.db",
]


def prepare(folder: Path) -> None:
    """The files that command lines name."""
    texts = {
        "line.py": LINE, "box.py": BOX, "broken.py": "def build(:\n", "s.yaml": STUDY, "empty.db": "", "empty.csv": "",
        "results.csv": "move,value\n1,0.5\n", "bad.csv": "move;value\n1;x\n", "t.csv": "x,t (K)\n1,10\n2,20\n",
        "settings.yaml": "episodes: 3\n", "bad.yaml": "episodes: [\n",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "junk.db").write_bytes(bytes(range(256)) * 16)
    (folder / "folder").mkdir(exist_ok=True)


class RandomCommands:
    """Composes command lines; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        group: Any = typer.main.get_command(app)
        self.commands = {name: group.get_command(None, name) for name in _command_names() if name not in NEVER}

    def next(self) -> list[str]:
        """One command line."""
        chance = self.chance
        on_campaigns = [name for name, command in self.commands.items() if _takes_campaign(command)]
        name = chance.choice(on_campaigns if chance.random() < 0.85 else sorted(self.commands))
        command = self.commands[name]
        words = [name]
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        for parameter in arguments:
            if parameter.required or chance.random() < 0.7:
                words.append(self._value(name, parameter))
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name != "help" and self._wanted(name, parameter):
                words += self._option(name, parameter)
        if chance.random() < 0.03:
            words.insert(chance.randrange(1, len(words) + 1), chance.choice(["--nonsense", "-x", "", "--", "--help"]))
        return words

    def _wanted(self, name: str, parameter: Any) -> bool:
        if name == "study":  # Otherwise it starts processes, which takes longer than a hundred other commands.
            return parameter.name == "dry_run" or self.chance.random() < 0.2
        return parameter.required or self.chance.random() < (0.25 if parameter.is_flag else 0.18)

    def _option(self, name: str, parameter: Any) -> list[str]:
        if parameter.is_flag:
            return [parameter.opts[0]]
        times = self.chance.choice([1, 1, 2]) if parameter.multiple else 1
        return [word for _ in range(times) for word in (parameter.opts[0], self._value(name, parameter))]

    def _value(self, command: str, parameter: Any) -> str:
        """Mostly something that fits, so that most commands get beyond their arguments."""
        chance, name = self.chance, parameter.name
        odd = chance.random() < 0.1
        if name in ("campaign", "where"):
            return chance.choice(PLACES if odd else CAMPAIGNS)
        if name == "problem":
            fits = ["line.py"] if parameter.param_type_name == "option" else ["line.py", "line.py", "box.py"]
            return chance.choice(PROBLEMS if odd else fits)
        pools = {
            "value": ["0.5", "0.25", "-0.5"], "move": ["1", "2", "3"], "at": ["x=1", "t=10"], "set_": ["episodes=2"],
            "csv": ["results.csv"], "output": ["out.csv", "page.html", "new_run"], "settings": ["settings.yaml"],
            "file": ["s.yaml"], "key": ["a", "b"], "unit": ["%"], "gap": ["0.1"], "seed": ["1"], "episodes": ["1"],
            "workers": ["1"], "name": ["mine"],
        }  # fmt: skip
        odd_ones = {
            "at": ASSIGNMENTS, "set_": ASSIGNMENTS, "csv": TABLES, "output": OUTPUTS,
            "file": ["bad.yaml", "nowhere.yaml", "folder"],
            "settings": ["bad.yaml", "nowhere.yaml", "folder", "/dev/zero"], "value": NUMBERS, "move": NUMBERS, "seed": NUMBERS,
            "gap": NUMBERS, "episodes": NUMBERS, "workers": NUMBERS,
        }  # fmt: skip
        if name in pools and chance.random() < 0.6:
            return chance.choice(pools[name])
        return chance.choice(odd_ones.get(name, TEXTS + NUMBERS))


def _takes_campaign(command: Any) -> bool:
    return any(parameter.name in ("campaign", "where") for parameter in command.params)
