"""A goal in a campaign file: kept, shown in the user's own words, and changed in the middle with all data."""

from __future__ import annotations

import json

import pytest
from rival_plants import DP, grid, line

from tcbo_pyomo import settings_from
from tcbo_pyomo.cli._campaign_texts import best_as_text, status_as_text
from tcbo_pyomo.cli.main import main
from tcbo_pyomo.records import open_campaign, start_campaign
from tcbo_pyomo.report.page import render_report

SETTINGS = settings_from(DP)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "rig.db"


def told(campaign, values):
    for value in values:
        campaign.tell(campaign.ask().number, value)
    return campaign


def run(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code


def test_the_file_keeps_the_goal_and_says_it_without_the_problem(file):
    problem = line(goal={"target": 0.4}, output_unit="%")
    campaign = told(start_campaign(file, problem, SETTINGS, 1), (0.9, 0.3, 0.1))
    opened = open_campaign(file)  # The problem was made in Python: what the file says of it is all there is.
    assert opened.problem.goal == problem.goal
    assert opened.best() == campaign.best() and opened.best().goal == {"target": 0.4}
    assert "% (goal: closest to 0.4 %) from 3 measurements" in best_as_text(problem, campaign.best())
    assert "goal: f closest to 0.4 %\n" in status_as_text(campaign.status())


def test_maximise_says_nothing_more_than_before(file):
    campaign = told(start_campaign(file, line(), SETTINGS, 1), (0.9, 0.3))
    assert "goal" not in best_as_text(line(), campaign.best()) + status_as_text(campaign.status())
    assert campaign.best().goal == campaign.status().goal == "maximise"


@pytest.mark.parametrize("goal", ["minimise", {"target": 0.2}], ids=str)
def test_the_goal_is_amended_and_all_results_stay(file, goal):
    campaign = told(start_campaign(file, grid(), SETTINGS, 1), (0.9, 0.3, -0.4, 0.1))
    before = campaign.predict({"x": 2, "y": 2})
    recommended = campaign.recommendation
    changes = campaign.amend(grid(), {"goal": goal})
    words = goal if isinstance(goal, str) else "target 0.2"
    assert ("goal", "maximise", words) in [(change.what, change.before, change.after) for change in changes]
    assert campaign.predict({"x": 2, "y": 2}) == before and campaign.recommendation != recommended
    told(campaign, (0.2, 0.0))
    again = open_campaign(file, grid())
    assert again.campaign.problem.goal.data == goal
    assert json.dumps(again.campaign.state()) == json.dumps(campaign.campaign.state())
    assert len(again.history.told) == 6
    campaign.amend(grid(), {"goal": "maximise"})
    assert campaign.problem.goal.data == "maximise"


def test_the_commands_speak_of_the_goal(file, capsys):
    assert run("start", file, "knorr_pyrazole", "--set", "goal.target=0.4", "--set", "episodes=2") == 0
    for value in (0.1, 0.3, 0.5):
        assert run("ask", file) == 0 and run("tell", file, value) == 0
    capsys.readouterr()
    assert run("best", file) == 0 and "(goal: closest to 0.4) from 3 measurements" in capsys.readouterr().out
    assert run("best", file, "--json") == 0 and json.loads(capsys.readouterr().out)["goal"] == {"target": 0.4}
    assert run("status", file) == 0 and "goal: y closest to 0.4" in capsys.readouterr().out
    assert run("amend", file, "--set", "goal=minimise", "--yes") == 0
    assert "goal was target 0.4, is minimise" in capsys.readouterr().out
    assert run("best", file) == 0 and "(goal: smallest) from 3" in capsys.readouterr().out
    assert run("amend", file, "--set", "goal=least", "--yes") == 2
    error = capsys.readouterr().err
    assert "use maximise, minimise, or {target: 42}" in error and error.count("\n") == 1


def test_the_report_speaks_of_the_goal(file):
    campaign = told(start_campaign(file, grid(goal={"target": 0.4}, output_unit="%"), SETTINGS, 1), (0.9, 0.3, 0.1))
    page = render_report(campaign.campaign)
    assert "Goal: closest to 0.4 %." in page and "may still be the value closest to 0.4 %" in page
    assert "how much farther from 0.4 % than the best" in page and "the maximum" not in page
