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
