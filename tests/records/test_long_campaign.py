"""A campaign of 10,000 measurements still opens and asks."""

import time

import pytest
from small_campaigns import ALL_KILLS

from tcbo_pyomo import Problem
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.records import open_campaign, start_campaign
from tcbo_pyomo.records.rebuild import data_of
from tcbo_pyomo.settings import settings_from

CAMPAIGNS = [("knorr_pyrazole", "exact"), *([("branin2d", "nystroem")] if ALL_KILLS else [])]


@pytest.mark.parametrize("name, features", CAMPAIGNS)
def test_ten_thousand_measurements(tmp_path, name, features):
    path, problem = tmp_path / "campaign.db", load_problem(name)
    more = {"episodes": 10_100 // problem.horizon, "surrogate": {"features": features}}
    more |= {} if isinstance(problem, Problem) else {"candidates": {"count": 4}}
    quick = {"planner": {"linear": {"solver": "dynamic_programming"}}}
    campaign = start_campaign(path, name, settings_from(dict(problem.settings), quick, more), 1)
    if problem.measure_start:
        campaign.tell(campaign.ask().number, 0.5)
    campaign.tell(campaign.ask().number, 0.5)
    write_more(campaign, 10_000)
    began = time.process_time()
    campaign = open_campaign(path)
    opened = time.process_time()
    assert campaign.status().measurements == 10_000
    move = campaign.ask()
    asked = time.process_time()
    campaign.tell(move.number, 0.5)
    print(f"{name}, 10,000 measurements, {path.stat().st_size / 1e6:.0f} MB: opened in {opened - began:.1f} s, "
          f"asked in {asked - opened:.1f} s, told in {time.process_time() - asked:.2f} s")  # fmt: skip
    assert open_campaign(path).history.told[-1] == move.number
    assert asked - began < 60


def write_more(campaign, number):
    """Rows as 10,000 asks and tells leave them, without planning each: moves back and forth between two places."""
    problem, history = campaign.problem, campaign.history
    first, last = data_of(history.moves[-1]), history.moves[-1]
    state = {name: campaign._story.state[name] for name in ("generator", "kernel", "method")}
    begun = len(history.moves) - 1
    with campaign._ledger.transaction() as writer:
        for index in range(len(history.moves) + 1, number + 1):
            made = index - 1 - begun
            episode, step = divmod(made, problem.horizon)
            move = {**first, "number": index, "episode": episode + 1, "step": step + 1}
            asked = {**move, "arrived": None}
            writer.append("ask", {"moves": [asked], "plans": [], "whole": False, **state})
            told = {"move": index, "value": 0.5, "replicate": False, "told": index, "moves": [move]}
            writer.append("tell", told, f"tell {index}")
    assert last.value is not None
