"""Which linear oracle `auto` takes, and what it says about it."""

import numpy as np
import pyomo.environ as pyo
import pytest

from tcbo_pyomo import Campaign, ResourceBudget, grid_process, load_problem, settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.planning.finite import chosen_solver as module
from tcbo_pyomo.planning.finite.chosen_solver import chosen_solver
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.priced_budget import PricedBudget
from tcbo_pyomo.settings import LinearSolverSettings


def chosen(name, **linear):
    return chosen_solver(load_problem(name), LinearSolverSettings(**linear))


def test_auto_is_the_default():
    assert settings_from({}).planner.linear.solver == "auto"


@pytest.mark.parametrize(
    ("name", "solver", "why"),
    [
        ("knorr_pyrazole", "highs", "auto: the linear programme has 2,200 variables"),
        ("fuel_lake", "highs", "auto: the linear programme has 9,748 variables"),
        (
            "free_electron_laser",
            "dynamic_programming",
            "auto: nothing couples the steps and the linear programme would have 990,100 variables",
        ),
    ],
)
def test_the_programme_unless_it_is_large_and_backward_induction_can_do_it(name, solver, why):
    found = chosen(name)
    assert (found.name, found.why) == (solver, why)
    assert found.text == f"{solver} ({why})"


def test_several_rules_couple_the_steps():
    problem = load_problem("fuel_lake")
    two = problem.changed(constraints=[*problem.constraints, ResourceBudget("time", lambda left, right: 1.0, 100)])
    why = "auto: ResourceBudget(fuel), ResourceBudget(time) couple the steps of an episode"
    assert chosen_solver(two, LinearSolverSettings()).why == why


class FuelAndEarlyRest(ResourceBudget):
    """A user's budget with a row of its own, which no price of the fuel knows about."""

    def add_to_polytope(self, model):
        super().add_to_polytope(model)
        model.early = pyo.Constraint(expr=sum(model.visitation[move] for move in model.MOVES if move[0] == 0) >= 0)


def test_a_budget_with_rows_of_its_own_is_left_to_the_programme(monkeypatch):
    fuel_lake = load_problem("fuel_lake")
    *others, _ = fuel_lake.constraints
    own = fuel_lake.changed(constraints=[*others, FuelAndEarlyRest("fuel", lambda left, right: 1.0, 40)])
    monkeypatch.setattr(module, "LARGE", 1_000)
    assert chosen_solver(own, LinearSolverSettings()).name == "highs"
    with pytest.raises(BadInput, match="'auto' or 'highs'"):
        chosen_solver(own, LinearSolverSettings(solver="dynamic_programming"))


def test_the_variables_are_those_of_the_programme():
    problem = load_problem("knorr_pyrazole")
    assert f"{len(problem.polytope.move_pair):,} variables" in chosen("knorr_pyrazole").why


def test_options_are_for_the_programme_and_a_name_is_taken_at_its_word():
    assert chosen("free_electron_laser", options={"presolve": "off"}).name == "highs"
    assert chosen("free_electron_laser", time_limit=5.0).why == "auto: the settings give it options or a time limit"
    assert chosen("free_electron_laser", solver="highs").text == "highs (named in the settings)"
    assert chosen("fuel_lake", solver="dynamic_programming").text == "dynamic_programming (named in the settings)"


def test_one_budget_is_priced_and_more_are_not(monkeypatch):
    fuel_lake = load_problem("fuel_lake")
    two = fuel_lake.changed(constraints=[*fuel_lake.constraints, ResourceBudget("time", lambda left, right: 1.0, 100)])
    with pytest.raises(BadInput, match=r"keeps one budget at most.*'auto' or 'highs'"):
        chosen_solver(two, LinearSolverSettings(solver="dynamic_programming"))
    monkeypatch.setattr(module, "LARGE", 1_000)
    assert chosen("fuel_lake").why.startswith("auto: only ResourceBudget(fuel) couples the steps and")
    assert chosen_solver(two, LinearSolverSettings()).name == "highs"
    campaign = Campaign(fuel_lake, settings_from(dict(fuel_lake.settings)), seed=1)
    assert isinstance(campaign.method.planner.oracle, PricedBudget)


@pytest.mark.parametrize(("large", "oracle"), [(2_200, LinearProgramming), (2_199, DynamicProgramming)])
def test_the_planner_uses_what_was_chosen(large, oracle, monkeypatch):
    monkeypatch.setattr(module, "LARGE", large)
    campaign = Campaign(load_problem("knorr_pyrazole"), settings_from({}), seed=1)
    assert isinstance(campaign.method.planner.oracle, oracle)
    assert campaign.method.planned_with().startswith(campaign.method.planner.oracle.name)


def test_auto_makes_the_moves_of_the_solver_that_it_takes():
    problem = load_problem("knorr_pyrazole")
    moves = []
    for solver in ("auto", "highs"):
        campaign = Campaign(problem, settings_from({"planner": {"linear": {"solver": solver}}}), seed=3)
        for _ in range(6):
            move = campaign.ask()
            campaign.tell(move.number, float(np.sin(move.number)))
        moves.append([move.decision for move in campaign.history.moves])
    assert moves[0] == moves[1]


def test_a_large_plant_without_coupling_asks_without_pyomo_building():
    from tcbo_pyomo import Problem
    from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

    axes = {"x": [float(i) for i in range(25)], "y": [float(i) for i in range(25)]}
    process = grid_process(axes, {"x": (-1, 0, 1), "y": (-1, 0, 1)}, 0.01)
    problem = Problem("large", process, 0, 60, 1, SquaredExponential(1.0, 0.3), output="found")
    campaign = Campaign(problem, settings_from({}), seed=1)
    assert campaign.method.planned_with().startswith("dynamic_programming (auto: nothing couples the steps")
    campaign.ask()
    assert "polytope" not in vars(problem)
