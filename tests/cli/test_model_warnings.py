"""What the commands of a campaign say about its model: warnings when a result contradicts it, and what was learned."""

from __future__ import annotations

import json
import re

import pytest

from tcbo_pyomo.cli import main as cli

OWN_PROBLEM = """
from tcbo_pyomo import PlainPrior, Problem, grid_process

def build(feedback=None, seed=0):
    process = grid_process({"x": list(range(7))}, {"x": [-1, 0, 1]}, 0.01, units={"x": "minute"})
    return Problem(name="line", process=process, start={"x": 2}, horizon=3, episodes=9,
                   prior=PlainPrior((0.0, 1.0), 0.1), output="product", output_unit="g/l",
                   settings={"planner": {"linear": {"solver": "dynamic_programming"}}})
"""


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    """Call the command line in a folder with a started campaign; returns standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.py").write_text(OWN_PROBLEM)

    def called(*arguments):
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert stopped.value.code == 0, err
        return out, err

    called("start", "c.db", "plain.py")
    return called


def test_a_result_outside_the_range_is_recorded_with_a_warning(tcbo):
    tcbo("ask", "c.db")
    said, warned = tcbo("tell", "c.db", "0.4")
    assert warned == "" and "recorded: move 1" in said
    tcbo("ask", "c.db")
    said, warned = tcbo("tell", "c.db", "1.05")
    assert "recorded: move 2" in said
    assert "warning: the result of move 2 lies outside the declared range 0 to 1" in warned
    tcbo("ask", "c.db")
    assert tcbo("tell", "c.db", "0.95")[1] == "", "a warning belongs to the result that gave cause to it"
    status, _ = tcbo("status", "c.db")
    assert "warning: the result of move 2 lies outside" in status


def test_status_explain_and_report_say_what_was_learned(tcbo, tmp_path):
    for value in ("0.2", "0.35", "0.5", "0.45", "0.7", "0.6"):
        tcbo("ask", "c.db")
        tcbo("tell", "c.db", value)
    status, _ = tcbo("status", "c.db")
    assert re.search(r"lengthscales \(learned from 5 results\): x [\d.]+ minute \(", status)
    assert "measurement sd (learned from 5 results): " in status
    data = json.loads(tcbo("status", "c.db", "--json")[0])
    assert data["belief"]["learned_from"] == 5 and data["warnings"] == []
    tcbo("ask", "c.db")
    assert "learned from 5 results" in tcbo("explain", "c.db")[0]
    assert json.loads(tcbo("explain", "c.db", "--json")[0])["belief"] == data["belief"]
    tcbo("report", "c.db", "--output", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Does the model fit?" in page and "Predicted against measured product of 6 results" in page
    assert "learned from 5 results" in page


def test_a_wider_range_can_be_declared_on_the_way(tcbo, tmp_path):
    for value in ("0.4", "0.6", "0.8", "0.9", "1.05", "1.1"):
        tcbo("ask", "c.db")
        tcbo("tell", "c.db", value)
    assert "outside the declared range 0 to 1" in tcbo("status", "c.db")[0]
    before = json.loads(tcbo("status", "c.db", "--json")[0])["belief"]
    (tmp_path / "plain.py").write_text(OWN_PROBLEM.replace("(0.0, 1.0)", "(0.0, 3.0)"))
    said, _ = tcbo("amend", "c.db", "--yes")
    assert "answers about the output" in said and "0 to 3" in said
    status, _ = tcbo("status", "c.db")
    assert "warning" not in status
    after = json.loads(tcbo("status", "c.db", "--json")[0])["belief"]
    assert after["learned_from"] == before["learned_from"] == 5
    assert after["deviation"] == pytest.approx(3.0 * before["deviation"])
    assert "move 7" in tcbo("ask", "c.db")[0]
