"""`tcbo explain` and `tcbo whatif` on run folders and saved campaigns."""

import json

import pytest
from typer.testing import CliRunner

from tcbo_pyomo import Campaign, load_problem, run_campaign, save_campaign, settings_from
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.errors import BadInput, DamagedFile
from tcbo_pyomo.records.run_folder import write_run


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    problem = load_problem("knorr_pyrazole")
    fast = {"episodes": 2, "planner": {"linear": {"solver": "dynamic_programming"}}}
    write_run(run_campaign(problem, settings_from(dict(problem.settings), fast), seed=1), folder)
    return folder


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_explain_a_run_folder(run_folder):
    answer = call("explain", run_folder, "--gap", "0.1")
    assert answer.exit_code == 0, answer.output
    said = (
        "knorr_pyrazole, episode 3, move 1",
        "checks that nothing beats the recommendation",
        "lower bound for every path and policy",
        "planned",
        "MaximumStep",
    )
    for words in said:
        assert words in answer.output


def test_explain_a_saved_campaign_as_data(tmp_path):
    campaign = Campaign(load_problem("knorr_pyrazole"), seed=1)
    move = campaign.ask()
    campaign.tell(move.number, 0.1)
    save_campaign(campaign, tmp_path / "campaign.json")
    answer = call("explain", tmp_path / "campaign.json", "--problem", "knorr_pyrazole", "--json", "--gap", "0.2")
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.output)
    assert data["step"] == 2 and data["lower_bound"] <= data["utility_after"]


def test_whatif_shows_both_plans(run_folder):
    answer = call("whatif", run_folder, "--set", "horizon=6", "--gap", "0.2")
    assert answer.exit_code == 0, answer.output
    assert "horizon = 10" in answer.output and "horizon = 6" in answer.output
    assert "worse: with horizon = 6 instead of 10" in answer.output


def test_whatif_without_a_limit_lists_them(run_folder):
    error = call("whatif", run_folder).exception
    assert isinstance(error, BadInput) and "maximum_step.residence_time" in str(error) and error.exit_code == 2


def test_errors_have_their_exit_codes(run_folder, tmp_path):
    assert call("explain", tmp_path / "nothing").exception.exit_code == 2
    assert call("explain", run_folder, "--gap", "2").exception.exit_code == 2
    assert call("whatif", run_folder, "--set", "horizon").exception.exit_code == 2
    (tmp_path / "campaign.json").write_text("{}")
    damaged = call("explain", tmp_path / "campaign.json", "--problem", "knorr_pyrazole").exception
    assert isinstance(damaged, DamagedFile) and damaged.exit_code == 3


PLANT = """
from tcbo_pyomo import Problem, grid_process
from tcbo_pyomo.models.constraints import MaximumStep
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def build(feedback=None, seed=0):
    plant = grid_process(
        {"time": [0, 5, 10], "temperature": [60, 64, 68, 72]},
        {"time": [0, 1], "temperature": [-2, -1, 0, 1, 2]},
        0.01,
        units={"time": "min", "temperature": "K"},
    )
    start = {"time": 0, "temperature": 60}
    limit = MaximumStep({"temperature": 4})
    return Problem("plant", plant, start, 3, 2, SquaredExponential(1.0, 0.3), (limit,))
"""


def test_whatif_of_a_rate_limit_in_units_on_a_campaign_file(tmp_path):
    from tcbo_pyomo.records import start_campaign

    (tmp_path / "plant.py").write_text(PLANT)
    durable = start_campaign(tmp_path / "campaign.db", str(tmp_path / "plant.py"), seed=1)
    durable.tell(durable.ask().number, 0.1)
    before = (tmp_path / "campaign.db").read_bytes()
    answer = call("whatif", tmp_path / "campaign.db", "--set", "maximum_step.temperature=8K", "--gap", "0.05")
    assert answer.exit_code == 0, answer.output
    assert "maximum_step.temperature = 4" in answer.output and "maximum_step.temperature = 8 K" in answer.output
    explained = call("explain", tmp_path / "campaign.db")
    assert explained.exit_code == 0 and "plant, episode 1, move 2" in explained.output
    assert "MaximumStep" in explained.output and "What to do: " in explained.output
    assert (tmp_path / "campaign.db").read_bytes() == before
