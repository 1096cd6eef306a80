"""The report says why the next move is made, or plainly why it cannot say so."""

import numpy as np
import pytest
from test_page import Reader, isolated, partial

import tcbo_pyomo.report.page_explanation as section
from tcbo_pyomo import Campaign, Problem, grid_process, load_problem, run_campaign, settings_from
from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.explain.move_options import SHOWN
from tcbo_pyomo.models.constraints import MaximumStep, ResourceBudget
from tcbo_pyomo.records import in_memory, open_campaign, start_campaign
from tcbo_pyomo.records.run_folder import write_run
from tcbo_pyomo.report.page import render_report
from tcbo_pyomo.report.page_explanation import page_explanation
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

FAST = {"planner": {"linear": {"solver": "dynamic_programming"}}}


def heat(left, right):
    """What a visit takes: more in a hotter place."""
    return right["temperature"] - 60


def reactor(**changes):
    plant = grid_process(
        {"time": [0, 5, 10], "temperature": [60, 70, 80]},
        {"time": [0, 1], "temperature": [-2, -1, 0, 1, 2]},
        0.01,
        units={"time": "min", "temperature": "K"},
    )
    rules = MaximumStep({"temperature": 10}), ResourceBudget("heat", heat, 12.0)
    start = {"time": 0, "temperature": 60}
    fields = dict(name="reactor", process=plant, start=start, horizon=4, episodes=2, constraints=rules)
    return Problem(
        **{**fields, "kernel": SquaredExponential(1.0, 0.3), "truth": np.arange(9.0), "output_unit": "g", **changes}
    )


def section_text(campaign):
    page = render_report(campaign)
    isolated(page)
    text = Reader(page).text
    return text[text.index("Why this move") : text.index(" Paths ")]


def test_the_page_says_what_tcbo_explain_says():
    campaign = partial(reactor(), 1)
    before = campaign.state()
    text, found = section_text(campaign), explain(campaign)
    assert campaign.state() == before
    assert "The plan checks that nothing beats the recommendation (" in text and "Step 2 of episode 1, from (" in text
    assert f"expected to beat it by adds up to {found.regret[0]:.4g} g now" in text
    for value in (found.utility_now, found.utility_after, found.best_path, found.best_known, found.lower_bound):
        assert f"{value:.4g} g²" in text
    assert f"{found.utility_now**0.5:.4g} g" in text and found.advice in text
    assert "planned, asked for" in text and "allowed" in text and "forbidden" not in text
    runner_up = next(option for option in found.moves if option.status == "allowed")
    assert f"{runner_up.rest:.4g}" in text and f"{runner_up.leaves:.4g} g² (sd" in text
    assert "heat budget at most 12 per episode" in text and "22 instead of 12" in text
    assert "MaximumStep temperature -10 to +10 K per move" in text


def test_many_moves_are_cut_and_chance_is_named():
    content = page_explanation(partial(load_problem("free_electron_laser"), 0, ask=False))
    assert len(content["moves"]) == SHOWN and content["moves_left_out"] > 0
    chance = page_explanation(partial(load_problem("river"), 1))
    assert any(" or " in move[0] for move in chance["moves"])


def test_one_candidate_left_is_confirmed():
    campaign = Campaign(reactor(), settings_from({"candidates": {"width": 1e-9}}), seed=1)
    campaign.tell(campaign.ask().number, 3.0)
    assert "The plan confirms the only candidate left, (" in section_text(campaign)


def test_a_continuous_plant_has_no_bound():
    text = section_text(partial(load_problem("thermal_reactor"), 1))
    assert "The plan separates (" in text and "has no bound" in text and "lower bound" not in text


def test_pending_results_count_as_visited():
    assert "The plan checks that nothing beats" in section_text(partial(reactor(), 3, told=0))


def test_no_next_move_no_explanation():
    finished = partial(reactor(episodes=1), 4, ask=False)
    assert "The campaign is finished: there is no next move to explain." in section_text(finished)
    assert "finished" in page_explanation(partial(reactor(episodes=1), 4, told=2, ask=False))["missing"]
    start = partial(load_problem("branin2d"), 0)
    assert start.history.open_move.step == 0
    assert "The start is measured first" in page_explanation(start)["missing"]
    rival = Campaign(reactor(constraints=()), settings_from({"method": "random_walk"}), seed=1)
    assert "random_walk" in page_explanation(rival)["missing"]


@pytest.mark.parametrize("error", [RuntimeError("singular <matrix>"), InfeasiblePlan("no plan keeps heat_budget")])
def test_an_error_of_the_solver_does_not_lose_the_report(error, monkeypatch):
    def fails(campaign):
        raise error

    monkeypatch.setattr(section, "explain", fails)
    text = section_text(partial(reactor(), 1))
    assert str(error) in text and "expla" in text


def test_an_episode_that_cannot_be_completed_is_reported():
    """The plant went where the budget is spent: no plan is left, and the page says so."""
    campaign = Campaign(reactor(constraints=(ResourceBudget("heat", heat, 5.0),)), seed=1)
    campaign.tell(campaign.ask().number, 0.1, at={"time": 5, "temperature": 80})
    assert "the next move cannot be planned" in section_text(campaign)


def test_campaign_files_and_run_folders(tmp_path):
    problem = load_problem("knorr_pyrazole")
    durable = start_campaign(tmp_path / "campaign.db", "knorr_pyrazole", seed=1)
    durable.tell(durable.ask().number, 0.1)
    assert "lower bound for every path and policy" in section_text(in_memory(open_campaign(tmp_path / "campaign.db")))
    write_run(run_campaign(problem, settings_from(dict(problem.settings), FAST, {"episodes": 1}), 2), tmp_path / "run")
    assert "The campaign is finished" in section_text(open_campaign(tmp_path / "run"))
