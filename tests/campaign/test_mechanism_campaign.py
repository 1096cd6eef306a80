"""A mechanism as prior, from the problem file to the recommendation: planned with, recorded, corrected, opened again."""

import os

import numpy as np
import pytest
from typer.testing import CliRunner

from tcbo_pyomo import Campaign, load_problem, open_campaign, run_campaign, start_campaign
from tcbo_pyomo.cli.main import app

PLANT = '''
import numpy as np
import pyomo.environ as pyo
from tcbo_pyomo import Mechanism, Problem, SquaredExponential, Sum, grid_process


def response(x, theta):
    return theta["top"] * (1 - pyo.exp(-theta["rate"] * x["time"])) * x["ratio"] * (1 - x["ratio"])


def build(feedback=None, seed=0):
    axes = {"time": [0.0, 2.0, 4.0, 6.0, 8.0, 10.0], "ratio": [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]}
    process = grid_process(axes, {"time": (0, 1), "ratio": (-1, 0, 1)}, 1e-4)
    estimate = {"top": 3.0, "rate": 0.3}, [[0.25, 0.0], [0.0, 0.01]]
    prior = Mechanism.from_estimate(response, *estimate, process.coordinates)
    time, ratio = process.states.T
    return Problem(
        name="batch",
        process=process,
        start={"time": 0.0, "ratio": 0.0},
        horizon=6,
        episodes=3,
        kernel=Sum((prior, SquaredExponential(0.0005, 0.3))),
        truth=4.0 * (1 - np.exp(-0.5 * time)) * ratio * (1 - ratio),
    )
'''


@pytest.fixture
def plant(tmp_path, monkeypatch):
    (tmp_path / "batch.py").write_text(PLANT)
    monkeypatch.chdir(tmp_path)
    return "batch.py"


def test_the_mechanism_is_learned_from_few_results(plant):
    result = run_campaign(load_problem(plant), seed=1)
    assert result.episodes[-1].regret < 0.02
    knowledge = result.campaign.knowledge
    top, rate = knowledge.kernel.to_dict()["kernels"][0]["linearised_at"]
    assert abs(top - 4.0) < 0.3 and abs(rate - 0.5) < 0.1


def test_a_campaign_file_with_a_mechanism(plant):
    durable, memory = start_campaign("rig.db", plant, seed=3), Campaign(load_problem(plant), seed=3)
    for number in range(1, 6):
        move, same = durable.ask(), memory.ask()
        assert move.decision == same.decision
        value = load_problem(plant).true_value(move.expected) + 0.01 * (-1) ** number
        durable.tell(move.number, value)
        memory.tell(same.number, value)
    durable.undo()
    durable.tell(5, memory.history.move(5).value)
    again = open_campaign("rig.db").best()
    assert again.at == memory.problem.describe(memory.recommendation)
    assert again.mean == pytest.approx(memory.predict(again.at)[0], rel=1e-9)


def test_every_command_knows_what_to_do_without_the_module(plant):
    start_campaign("rig.db", plant, seed=3)
    runner = CliRunner()
    for words in ("ask rig.db", "tell rig.db 0.4", "status rig.db", "best rig.db", "audit rig.db"):
        done = runner.invoke(app, words.split(), catch_exceptions=False)
        assert done.exit_code == 0, (words, done.output)
    assert os.path.exists("rig.db") and np.isfinite(open_campaign("rig.db").best().mean)


def test_every_text_says_how_much_is_mechanism(plant):
    """The plant is 4.0 (1 - exp(-0.5 t)) ratio (1 - ratio): all mechanism, with other parameters than the estimate."""
    campaign = start_campaign("rig.db", plant, seed=3)
    assert "parameters of the mechanism" not in "".join(campaign.status().belief_lines)
    for _ in range(12):
        move = campaign.ask()
        campaign.tell(move.number, load_problem(plant).true_value(move.expected))
    best = campaign.best()
    split = best.mechanism
    assert split.mechanism + split.residual == pytest.approx(best.mean, abs=1e-6)
    assert abs(split.residual) < 0.03 * split.mechanism and 0.0 < split.residual_sd < 0.03
    top, rate = campaign.status().belief["parameters"]
    assert (top["name"], top["prior"], top["prior_sd"]) == ("top", 3.0, 0.5) and top["sd"] < 0.25
    assert abs(top["estimate"] - 4.0) < 3 * top["sd"] and abs(rate["estimate"] - 0.5) < 3 * rate["sd"]
    runner = CliRunner()
    invoke = lambda *words: runner.invoke(app, [*words], catch_exceptions=False)  # noqa: E731
    said = {word: invoke(word, "rig.db").output for word in ("status", "best", "explain")}
    assert "parameters of the mechanism response: top " in said["status"] and "(prior 3.00 ± 0.50)" in said["explain"]
    assert "the mechanism predicts" in said["best"] and "the mechanism predicts" in said["explain"]
    done = invoke("report", "rig.db", "--output", "page.html")
    assert done.exit_code == 0, done.output
    with open("page.html", encoding="utf-8") as page:
        text = page.read()
    assert "the mechanism predicts" in text and "3.00 ± 0.50" in text
