"""A campaign file says how much is known, quickly, and plans no further once that is enough."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from rival_plants import DP, line
from typer.testing import CliRunner

from tcbo_pyomo import EnoughKnown, open_campaign, settings_from, start_campaign
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.records.run_folder import read_run, write_run
from tcbo_pyomo.report.page import render_report

LOOSE = settings_from(DP, {"stop": {"regret": 100.0}})


def call(*arguments: str) -> Result:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """The file of a shipped problem's campaign that has reached its stop."""
    monkeypatch.chdir(tmp_path)
    settings = settings_from(DP, {"stop": {"regret": 100.0}, "feedback": {"kind": "immediate"}})
    campaign = start_campaign("c.db", "knorr_pyrazole", settings, 1)
    campaign.tell(campaign.ask().number, 0.3)
    return "c.db"


def test_ask_plans_nothing_and_says_why(stopped):
    text = call("ask", stopped).output
    assert text.startswith("enough is known: with probability") and "--anyway" in text
    data = json.loads(call("ask", stopped, "--json").output)
    assert data["moves"] == [] and data["stop"]["enough_known"] and data["stop"]["tolerance"] == 100.0
    assert "move 2 " in call("ask", stopped, "--anyway").output
    # The outstanding move is handed out again, and it is said that it is not needed.
    assert "move 2 " in call("ask", stopped).output and "enough is known" in call("ask", stopped).output


def test_status_and_best_say_it_from_the_row(stopped, monkeypatch):
    def never(_):
        raise AssertionError("the row has the number")

    monkeypatch.setattr("tcbo_pyomo.knowledge.drawn_regrets.certainty_of", never)
    assert "enough is known: with probability" in call("status", stopped).output
    status = json.loads(call("status", stopped, "--json").output)
    assert status["finished"] and status["stop"]["enough_known"]
    assert "enough is known" in call("best", stopped).output
    assert json.loads(call("best", stopped, "--json").output)["stop"]["wanted"] == 0.9


def test_a_campaign_without_a_stop_says_nothing_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    campaign = start_campaign("c.db", "knorr_pyrazole", settings_from(DP), 1)
    campaign.tell(campaign.ask().number, 0.3)
    for command in ("status", "best", "ask"):
        assert "stop" not in json.loads(call(command, "c.db", "--json").output)
    assert b"certainty" not in Path("c.db").read_bytes()


def test_taking_a_result_back_takes_the_stop_back(stopped):
    campaign = open_campaign(stopped)
    assert campaign.finished
    campaign.undo()
    assert not campaign.finished and campaign.status().stop is None


def test_an_amended_stop_counts_from_then_on(tmp_path):
    campaign = start_campaign(tmp_path / "c.db", "knorr_pyrazole", settings_from(DP), 1)
    campaign.tell(campaign.ask().number, 0.3)
    call("amend", str(tmp_path / "c.db"), "--set", "stop.regret=100", "--yes")
    again = open_campaign(tmp_path / "c.db")
    assert again.status().finished and again.status().stop.tolerance == 100.0
    with pytest.raises(EnoughKnown):
        again.ask()


def test_the_number_is_that_of_the_campaign_in_memory(tmp_path):
    campaign = start_campaign(tmp_path / "c.db", "knorr_pyrazole", settings_from(DP, {"stop": {"regret": 0.02}}), 1)
    for value in (0.3, 0.35, 0.4):
        campaign.tell(campaign.ask().number, value)
    kept = open_campaign(tmp_path / "c.db")
    assert kept.certainty == kept.status().stop == campaign.certainty == kept.live().certainty


def test_the_report_says_it():
    from tcbo_pyomo import run_campaign

    result = run_campaign(line(), LOOSE, 1)
    page = render_report(result.campaign)
    assert "Enough is known: with probability 0.999" in page and 'class="status">enough is known<' in page


def test_the_folder_of_a_run_keeps_it(tmp_path):
    from tcbo_pyomo import load_problem, run_campaign

    problem = load_problem("knorr_pyrazole", "immediate", 1)
    settings = settings_from(dict(problem.settings), DP, {"stop": {"regret": 0.05}})
    result = run_campaign(problem, settings, 1)
    write_run(result, tmp_path)
    stop = json.loads((tmp_path / "result.json").read_text())["stop"]
    made = result.campaign.history.moves_made
    assert stop["enough_known"] and stop["moves_made"] == made < stop["moves_in_all"]
    again = read_run(tmp_path)
    assert again.certainty == result.campaign.certainty and again.history.moves_made == made
