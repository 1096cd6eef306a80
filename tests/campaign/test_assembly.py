"""Assembly: each kind of plant gets its own planner, moves, knowledge and methods, and is asked for in one place only."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from rival_plants import grid, line, plane

import tcbo_pyomo
from tcbo_pyomo import Campaign, settings_from
from tcbo_pyomo.campaign.assembly import method_for, planner_for
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.feedback import DUE
from tcbo_pyomo.methods.protocol import METHODS, Method, load_method
from tcbo_pyomo.planning.continuous.planner import ContinuousPlanner
from tcbo_pyomo.planning.finite import planner as finite_planner
from tcbo_pyomo.settings import FeedbackSettings, PlannerSettings


def test_a_method_of_one_kind_is_refused_on_the_other_in_one_line():
    for name in METHODS.names():
        method = load_method(name)
        assert Method in method.__mro__
        if method.plant == "any":
            continue
        other = plane() if method.plant == "finite" else grid()
        with pytest.raises(BadInput, match=f"method '{name}' .*'{other.name}'.*; use {method.instead}"):
            method_for(other, settings_from({"method": name}))


class Stay(Method):
    """A user's own method: one class, one function."""

    def next_decision(self, situation, knowledge, generator):
        return int(knowledge.problem.process.pairs_of(situation.state)[1])


def test_a_users_method_needs_next_decision_only(monkeypatch):
    monkeypatch.setitem(sys.modules, "my_methods", sys.modules[__name__])
    campaign = Campaign(line(), settings_from({"method": "my_methods:Stay"}))
    assert campaign.ask().expected == 2 and campaign.method.plan_record() is None and campaign.method.state() is None


def test_a_default_finite_plan_goes_through_frank_wolfe(monkeypatch):
    called, original = [], finite_planner.frank_wolfe
    monkeypatch.setattr(finite_planner, "frank_wolfe", lambda *a: called.append(a) or original(*a))
    Campaign(grid()).ask()
    assert len(called) == 1


def test_the_planner_is_that_of_the_plant():
    assert isinstance(planner_for(grid(), PlannerSettings()), finite_planner.FinitePlanner)
    assert isinstance(planner_for(plane(), PlannerSettings()), ContinuousPlanner)


def test_only_assembly_asks_for_the_kind_of_plant():
    root = Path(tcbo_pyomo.__file__).parent
    asks = re.compile(r"problem\.finite\b(?! import)|isinstance\(\w*\.?problem, \(?(Problem|ContinuousProblem)")
    files = [
        file
        for room in ("problem", "planning", "knowledge", "methods", "campaign")
        for file in (root / room).rglob("*.py")
    ]
    assert {file.name for file in files if asks.search(file.read_text())} == {"assembly.py"}


@pytest.mark.parametrize(("name", "unwanted"), [("knorr_pyrazole", "casadi"), ("branin2d", "highspy")])
def test_a_campaign_does_not_wait_for_the_solvers_of_the_other_kind(name, unwanted):
    code = f"import sys, tcbo_pyomo as t; t.Campaign(t.load_problem('{name}')).ask(); sys.exit('{unwanted}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_kind_of_feedback_says_when_results_are_due():
    assert set(DUE) == set(get_args(FeedbackSettings.model_fields["kind"].annotation))


def test_predict_is_gaussian_process_regression_in_engineering_units():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    for problem, lengthscale in ((grid(horizon=3), 0.3), (plane(), 0.2)):
        campaign = Campaign(problem)
        for value in (0.4, -0.2, 0.1):
            campaign.tell(campaign.ask().number, value)
        table = campaign.experiments()
        names = [c.name for c in problem.coordinates]

        lower = np.array([c.lower for c in problem.coordinates])
        width = np.array([c.width for c in problem.coordinates])
        oracle = GaussianProcessRegressor(RBF(lengthscale), alpha=0.01, optimizer=None)
        oracle.fit((table[names].to_numpy() - lower) / width, table["f"])
        places = [{"x": 1, "y": 2}, {"x": 3, "y": 4}]
        mean, deviation = oracle.predict((np.array([[1, 2], [3, 4]]) - lower) / width, return_std=True)
        for at in (places, pd.DataFrame(places).assign(other=0)):
            found = campaign.predict(at)
            np.testing.assert_allclose(found[0], mean, atol=1e-6)
            np.testing.assert_allclose(found[1], deviation, atol=1e-6)
        assert campaign.predict(places[0]) == pytest.approx((mean[0], deviation[0]), abs=1e-6)
        with pytest.raises(BadInput, match="no column 'y'"):
            campaign.predict(pd.DataFrame({"x": [1]}))


def test_campaigns_problems_and_moves_print_in_engineering_units():
    campaign = Campaign(plane())
    assert repr(campaign.problem).startswith(
        "ContinuousProblem(plane: size 2 continuous; coordinates x 0 to 10, y 0 to 5"
    )
    assert "<table>" in campaign.problem._repr_html_() and repr(grid()).startswith("Problem(grid: size 25 states")
    move = campaign.ask()
    assert "episode 1, step 1; x = 1, y = 1 -> x = " in repr(move) and "asked for" in repr(move)
    campaign.tell(move.number, 0.5)
    assert repr(campaign).startswith("Campaign(plane: mdp_bo, seed 0; 1 of 4 moves made, 1 results told")
    assert "; 0.5)" in repr(move) and "<td>0.5</td>" in campaign._repr_html_()
