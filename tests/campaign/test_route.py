"""How to get to the recommendation: kept with a campaign and shown wherever the recommendation is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import slow_reactor
from typer.testing import CliRunner

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import run_campaign
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.records.run_folder import result_data
from tcbo_pyomo.report.page import render_report


@pytest.fixture
def run():
    """A campaign on a file, through the commands, with two results."""

    def called(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.output

    return called


def test_the_commands_show_the_way(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(Path(slow_reactor.__file__), tmp_path / "reactor.py")
    run("start", "c.db", "reactor.py")
    for value in (0.2, 0.5):
        run("ask", "c.db")
        run("tell", "c.db", value)
    lines = run("best", "c.db").splitlines()
    assert lines[0].startswith("recommendation: temperature = ") and lines[1].startswith("how to get there, ")
    assert lines[2].startswith("  1: jacket ") and " -> temperature = " in lines[2]
    best = json.loads(run("best", "c.db", "--json"))
    moves = best["how_to_get_there"]
    assert len(moves) == len(lines) - 2 and moves[-1]["at"] == pytest.approx(best["at"], rel=1e-5)
    # By the equations of the reactor, written out once more in numbers.
    state = slow_reactor.START
    for move in moves:
        state = slow_reactor.after(*state, *move["actions"].values(), slow_reactor.np.exp)
        assert tuple(move["at"].values()) == pytest.approx(state, rel=1e-6)


def test_result_json_and_the_report_have_it():
    result = run_campaign(slow_reactor.build(), seed=2)
    moves = result_data(result)["how_to_get_there"]
    assert json.loads(json.dumps(moves)) == moves == result.campaign.route
    page = render_report(result.campaign)
    assert "How to get to the recommendation" in page and f"in {len(moves)} move" in page and "flow change" in page


def test_free_moves_go_straight_and_finite_plants_have_none():
    branin = Campaign(load_problem("branin2d"), seed=1)
    move = branin.ask()
    branin.tell(move.number, 1.0)
    moves = branin.route
    assert moves[-1]["at"] == pytest.approx(branin.problem.describe(branin.recommendation)) if moves else True
    assert Campaign(load_problem("knorr_pyrazole"), seed=1).route is None
