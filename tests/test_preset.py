"""The paper's method in one word: what the preset stands for, who wins over it, and that the moves are the paper's."""

import pytest
import yaml
from typer.testing import CliRunner

from tcbo_pyomo import Campaign, load_problem, run_campaign
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.settings_file import settings_template
from tcbo_pyomo.settings import Settings, settings_from, stored_settings
from tcbo_pyomo.studies.runs import runs_of
from tcbo_pyomo.studies.study import study_from

FAST = {"planner": {"linear": {"solver": "dynamic_programming"}}}


def moves_of(name, *layers, seed=3, episodes=2):
    problem = load_problem(name)
    chosen = settings_from(dict(problem.settings), FAST, {"episodes": episodes}, *layers)
    campaign = run_campaign(problem, chosen, seed).campaign
    return [(move.decision, move.arrived) for move in campaign.history.made]


def test_what_it_stands_for():
    paper = settings_from({"preset": "paper"})
    assert paper.planner.first_move == "drawn"
    assert (paper.utility.objective, paper.utility.information) == ("differences", "departure")
    assert paper.candidates.rule == "by_feedback"
    assert Settings().utility.information == "arrival"


def test_it_beats_weaker_layers_and_what_is_named_beside_it_or_later_wins():
    weaker = {"planner": {"first_move": "likeliest"}}
    assert settings_from(weaker, {"preset": "paper"}).planner.first_move == "drawn"
    beside = settings_from({"preset": "paper", "utility": {"information": "arrival"}})
    assert (beside.utility.information, beside.utility.objective) == ("arrival", "differences")
    assert settings_from({"preset": "paper"}, weaker).planner.first_move == "likeliest"
    assert settings_from({"preset": None}) == Settings()


def test_stored_settings_give_the_same_again():
    chosen = settings_from({"preset": "paper", "utility": {"information": "arrival"}})
    assert stored_settings(chosen.model_dump(mode="json")) == chosen
    assert stored_settings(chosen.model_dump(mode="json", exclude_defaults=True)) == chosen


@pytest.mark.parametrize("name", ["papers", 3, ["paper"], ""])
def test_an_unknown_preset_is_named(name):
    with pytest.raises(BadInput, match=r"setting 'preset': got .*; use paper, or leave it out"):
        settings_from({"preset": name})


@pytest.mark.parametrize("name", ["knorr_pyrazole", "free_electron_laser"])
def test_with_arrival_its_moves_are_those_of_a_drawn_first_move(name):
    drawn = {"planner": {"first_move": "drawn"}, "utility": {"objective": "differences"}}
    if name == "free_electron_laser":
        drawn, paper = {**drawn, "episodes": 1}, {"preset": "paper", "utility": {"information": "arrival"}, "episodes": 1}
    else:
        paper = {"preset": "paper", "utility": {"information": "arrival"}}
    assert moves_of(name, paper) == moves_of(name, drawn)


@pytest.mark.parametrize(("information", "dimensions"), [("arrival", 1), ("departure", 2)])
def test_the_plans_of_a_campaign_use_the_convention(information, dimensions):
    problem = load_problem("knorr_pyrazole")
    chosen = settings_from(dict(problem.settings), {"preset": "paper", "utility": {"information": information}})
    campaign = Campaign(problem, chosen, 1)
    assert campaign.knowledge.utility(campaign.generator).linearise().gradient.ndim == dimensions


@pytest.mark.parametrize(
    ("feedback", "rule"),
    [({"kind": "immediate"}, "UpperConfidence"), ({"kind": "delayed", "delay": 5}, "ThompsonSampling")],
)
def test_the_candidate_rule_follows_the_feedback_on_a_continuous_plant(feedback, rule):
    problem = load_problem("branin2d")
    chosen = settings_from(dict(problem.settings), {"preset": "paper", "feedback": feedback})
    assert type(Campaign(problem, chosen, 1).knowledge.rule).__name__ == rule


def test_the_printed_settings_are_those_of_the_preset():
    printed = CliRunner().invoke(app, ["settings", "--preset", "paper"])
    assert printed.exit_code == 0, printed.output
    assert settings_from(yaml.safe_load(printed.output)) == settings_from({"preset": "paper"})
    assert "--preset paper" in printed.output and settings_template() != printed.output


def test_a_study_may_name_it():
    study = {"name": "two", "problems": ["knorr_pyrazole"], "seeds": [1], "preset": "paper", "settings": FAST}
    (run,) = runs_of(study_from(study))
    assert run.case.settings["utility"] == {"objective": "differences", "information": "departure"}
    assert run.case.settings["planner"]["first_move"] == "drawn"


def test_a_run_may_name_it(tmp_path):
    options = ["--preset", "paper", "--episodes", "1", "--set", "planner.linear.solver=dynamic_programming"]
    done = CliRunner().invoke(app, ["run", "knorr_pyrazole", *options, "--output", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    wrong = CliRunner().invoke(app, ["run", "knorr_pyrazole", "--preset", "papers"])
    assert wrong.exit_code != 0 and "preset" in str(wrong.exception or wrong.output)
