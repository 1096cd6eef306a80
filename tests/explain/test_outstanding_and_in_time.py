"""An explanation says which move it is about, ends in time, and says where it did not reach the gap that was wanted."""

import numpy as np
import pytest
from typer.testing import CliRunner

from tcbo_pyomo import Campaign, load_problem, settings_from, start_campaign
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.explain.as_text import explanation_text
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.explain.outstanding import about, as_planned
from tcbo_pyomo.explain.what_if import what_if
from tcbo_pyomo.explain.what_if_text import verdict, what_if_text
from tcbo_pyomo.foundation.deadline import Deadline
from tcbo_pyomo.report.page_explanation import page_explanation

FAST = {"planner": {"linear": {"solver": "dynamic_programming"}}}
LONG_PAST = 1e-9
"""Seconds: over before anything begins."""


def knorr(told=2, **settings):
    problem = load_problem("knorr_pyrazole")
    campaign = Campaign(problem, settings_from(dict(problem.settings), FAST, settings), seed=1)
    for _ in range(told):
        campaign.tell(campaign.ask().number, 0.1)
    return campaign


def text_of(campaign, found):
    return explanation_text(found, campaign.problem.coordinates)


def test_a_tiny_gap_ends_and_says_what_was_reached():
    campaign = knorr()
    found = explain(campaign, 1e-15)
    assert found.gap is not None and np.isfinite(found.gap)
    assert found.gap <= 1e-15 or f"it is {found.gap:.2g}" in found.gap_missed


def test_without_time_the_gap_is_said_to_be_missed():
    campaign = knorr()
    found = explain(campaign, 1e-4, LONG_PAST)
    assert found.gap > 1e-4
    assert found.gap_missed == (
        f"the optimality gap of 0.0001 was not reached: it is {found.gap:.2g}, because the time limit of 1e-09 s was reached"
    )
    assert found.gap_missed in text_of(campaign, found)
    # The bounds are true all the same.
    exact = explain(campaign, 1e-4)
    assert not exact.gap_missed and found.lower_bound <= exact.best_known <= found.best_known


def test_limits_that_there_was_no_time_for_have_no_price():
    campaign = knorr(told=0)
    found, whole = explain(campaign, 1e-3, LONG_PAST), explain(campaign, 1e-3)
    for limit, known in zip(found.limits, whole.limits, strict=True):
        for looser, solved in zip(limit.looser, known.looser, strict=True):
            assert looser.unsolved or looser.by_bound or looser == solved
    assert not any(looser.unsolved for limit in whole.limits for looser in limit.looser)


def test_an_unsolved_limit_is_called_unknown():
    problem = load_problem("fuel_lake")
    campaign = Campaign(problem, settings_from(dict(problem.settings)), seed=1)
    found = explain(campaign, 0.01, LONG_PAST)
    unsolved = [looser for limit in found.limits for looser in limit.looser if looser.unsolved]
    assert unsolved
    assert f"{unsolved[0].text}: unknown; the time limit was reached" in text_of(campaign, found)


def test_what_if_says_which_gap_was_reached():
    answer = what_if(knorr(), {"horizon": 6}, 1e-4, LONG_PAST)
    assert "under the present limits the optimality gap of 0.0001 was not reached: it is" in answer.note
    assert "under the changed limits the optimality gap of 0.0001 was not reached: it is" in answer.note
    assert "not reached" not in what_if(knorr(), {"horizon": 6}, 0.2).note


def test_what_if_does_not_call_unsolved_plans_equal():
    """A longer episode is never worse; without time for the plans their bounds overlap, and nothing more is known."""
    hurried, solved = (what_if(knorr(told=0), {"horizon": 12}, 0.01, seconds) for seconds in (LONG_PAST, 60.0))
    assert verdict(solved) == "better"
    assert hurried.changed.lower_bound <= solved.changed.utility_after <= hurried.changed.utility_after
    assert verdict(hurried) == "unknown"
    assert what_if_text(hurried).startswith("unknown: with horizon = 12 instead of 10 the best policy leaves ")


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_time_limit_must_end(seconds):
    with pytest.raises(BadInput, match="must be a positive number of seconds"):
        Deadline(seconds)


def test_of_an_outstanding_schedule_its_own_plan_is_explained():
    campaign, single = knorr(), knorr()
    schedule, move = campaign.ask_episode(), single.ask()
    before = campaign.state()
    found, wanted = explain(campaign, 0.1), explain(single, 0.1)
    assert found.about == (
        "moves 3 to 10 are outstanding as a schedule; its plan is explained, from move 3 on"
    )
    assert wanted.about == "move 3 is outstanding; its plan is explained"
    assert (found.episode, found.step, found.here) == (wanted.episode, wanted.step, wanted.here) == (1, 3, found.here)
    # Of pairs that are known equally badly chance takes one.
    assert found.utility_now == pytest.approx(wanted.utility_now, rel=1e-6)
    (asked,) = [option for option in found.moves if option.asked]
    assert schedule[0].decision == move.decision
    assert asked.leads_to[0] == campaign.problem.describe(schedule[0].expected)
    assert campaign.state() == before
    assert found.about in text_of(campaign, found)


def test_a_schedule_of_the_last_episode_is_explained_on_the_page():
    campaign = knorr(episodes=1)
    campaign.ask_episode()
    page = page_explanation(campaign)
    assert page["missing"] is None
    assert "Moves 3 to 10 are outstanding" in page["which"] and page["which"].startswith("Step 3 of episode 1")


def test_a_result_within_the_schedule_moves_the_explanation_on():
    campaign = knorr()
    schedule = campaign.ask_episode()
    campaign.tell(schedule[1].number, 0.2)
    assert about(campaign).startswith("moves 5 to 10 are outstanding")
    assert explain(campaign, 0.2).step == 5
    assert as_planned(campaign).history.open_move.number == 5


def test_nothing_outstanding_and_nothing_left():
    assert about(knorr()) == "no move is outstanding; the move that comes next is explained"
    finished = knorr(told=10, episodes=1)
    assert explain(finished, 0.2).about == (
        "the campaign is finished; the first move of a further episode is explained"
    )


def test_the_command_takes_a_time_limit_and_speaks_of_the_schedule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    problem = load_problem("knorr_pyrazole")
    start_campaign("c.db", "knorr_pyrazole", settings_from(dict(problem.settings), FAST), 1).ask_episode()
    run = CliRunner()
    answer = run.invoke(app, ["explain", "c.db", "--gap", "1e-4", "--time-limit", "1e-9"])
    assert answer.exit_code == 0, answer.output
    assert "was not reached: it is" in answer.output and "are outstanding as a schedule" in answer.output
    answer = run.invoke(app, ["whatif", "c.db", "--set", "horizon=6", "--gap", "0.3"])
    assert answer.exit_code == 0, answer.output
    assert "are outstanding as a schedule; its plan is compared" in answer.output
    for command in (["explain", "c.db"], ["whatif", "c.db", "--set", "horizon=6"]):
        for bad in ("0", "-1", "nan", "inf"):
            error = run.invoke(app, [*command, "--time-limit", bad]).exception
            assert isinstance(error, BadInput) and "--time-limit" in str(error)
