"""`tcbo amend` and `tcbo trust`: both sides are shown, nothing is recorded without consent, nothing runs without trust."""

import pytest

from tcbo_pyomo.cli.main import main

OWN = """
from tcbo_pyomo.models.constraints import MaximumStep
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def build(feedback=None, seed=0):
    process = grid_process({"x": list(range(7))}, {"x": [-2, -1, 0, 1, 2]}, 0.01, units={"x": "minute"})
    return Problem("own", process, {"x": 2}, 3, 4, SquaredExponential(1.0, 0.3), [MaximumStep({"x": 1})], output="f")
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with a campaign: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "own.py").write_text(OWN)

    def call(*arguments):
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        out = capsys.readouterr()
        return end.value.code, out.out, out.err

    assert call("start", "c.db", "own.py")[0] == 0
    assert call("ask", "c.db")[0] == 0 and call("tell", "c.db", "0.3")[0] == 0
    return call


def test_a_changed_limit_is_refused_shown_and_amended(run, tmp_path):
    (tmp_path / "own.py").write_text(OWN.replace('MaximumStep({"x": 1})', 'MaximumStep({"x": 2})'))
    code, out, err = run("ask", "c.db")
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert "rule MaximumStep was x -1 to +1 minute per move, is x -2 to +2 minute per move" in err
    assert "`tcbo amend c.db`" in err
    before = (tmp_path / "c.db").read_bytes()
    code, out, err = run("amend", "c.db")
    assert code == 2 and "x -1 to +1 minute per move   x -2 to +2 minute per move" in out and "--yes" in err
    assert (tmp_path / "c.db").read_bytes() == before
    assert run("amend", "c.db", "--yes")[0] == 0
    assert run("ask", "c.db")[0] == 0 and run("audit", "c.db")[0] == 0
    code, _, err = run("amend", "c.db", "--yes")
    assert code == 2 and "nothing has changed" in err


def test_settings_and_another_file_are_amended(run, tmp_path):
    run("ask", "c.db")
    code, out, _ = run("amend", "c.db", "--set", "episodes=9", "--set", "method=greedy_ucb", "--yes")
    assert code == 0 and "setting method was mdp_bo, is greedy_ucb" in out
    assert "move 2 was asked for before the change; `skip` it to plan it again" in out
    assert "method greedy_ucb" in run("status", "c.db")[1] and "of 9;" in run("status", "c.db")[1]
    (tmp_path / "new.py").write_text(OWN.replace("SquaredExponential(1.0, 0.3)", "SquaredExponential(4.0, 0.3)"))
    code, out, _ = run("amend", "c.db", "--problem", "new.py", "--yes")
    assert code == 0 and "prior was squared_exponential(variance 1, lengthscale 0.3)" in out
    assert run("skip", "c.db")[0] == 0 and run("ask", "c.db")[0] == 0


def test_bad_amendments_are_one_line_and_change_nothing(run, tmp_path):
    before = (tmp_path / "c.db").read_bytes()
    for arguments in (
        ["--set", "unknown=3"],
        ["--problem", "missing.py"],
        ["--set", "method=os:system"],
        ["--set", "x"],
        [],
    ):
        code, out, err = run("amend", "c.db", "--yes", *arguments)
        assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1
    assert (tmp_path / "c.db").read_bytes() == before


def test_a_file_from_elsewhere_is_trusted_once(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    for command in ("ask", "explain", "amend"):
        code, _, err = run(command, "c.db")
        assert code == 2 and "neither started nor trusted" in err and "own.py (SHA-256 " in err
    assert run("status", "c.db")[0] == run("best", "c.db")[0] == run("audit", "c.db")[0] == 0
    code, _, err = run("report", "c.db", "--output", "c.html")
    assert code == 0 and "has the data of the file" in err
    assert run("ask", "c.db", "--trust")[0] == 0 and run("ask", "c.db")[0] == 2
    code, out, _ = run("trust", "c.db")
    assert code == 0 and "problem file" in out and "SHA-256" in out and out.endswith("c.db: trusted\n")
    assert run("ask", "c.db")[0] == 0
    assert run("trust", "missing.db")[0] == 2


def test_methods_that_are_none_are_refused(run):
    for method in ("os:system", "subprocess:Popen"):
        code, _, err = run("run", "knorr_pyrazole", "--method", method)
        assert code == 2 and f"method '{method}' is not a" in err


def test_the_question_can_be_answered_with_no(run, tmp_path, monkeypatch):
    import sys

    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("typer.confirm", lambda question: False)
    code, out, _ = run("amend", "c.db", "--set", "episodes=9")
    assert code == 0 and out.endswith("c.db: unchanged\n") and " of 4;" in run("status", "c.db")[1]
