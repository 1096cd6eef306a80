"""Campaigns on plants that are Pyomo models: compiled once, every solve converges, paths hold by independent integration."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from model_plants import cstr_after, cstr_dynamics, cstr_problem, heated_tank, problem_on

from tcbo_pyomo import Campaign, ModelInput, ModelState, dynamics_from_model, settings_from
from tcbo_pyomo.checks.problem_check import check_problem
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.planning.continuous import compiled_trajectory
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective
from tcbo_pyomo.planning.continuous.trajectory_oracle import TrajectoryOracle
from tcbo_pyomo.settings import NonlinearSolverSettings
from tcbo_pyomo.solvers.nonlinear.discretisation_error import discretisation_error


def moves(campaign: Campaign, number: int) -> list[Any]:
    made = []
    for _ in range(number):
        made.append(campaign.ask())
        campaign.arrive(made[-1].number)
        campaign.tell(made[-1].number, campaign.problem.true_value(made[-1].expected))
    return made


def test_a_campaign_compiles_once_and_every_solve_converges(monkeypatch: pytest.MonkeyPatch) -> None:
    """What went on inside past steps must not make later programmes singular: they used to end at the iteration limit."""
    built = []
    build = compiled_trajectory.build_trajectory
    monkeypatch.setattr(compiled_trajectory, "build_trajectory", lambda *a: built.append(a) or build(*a))
    campaign = Campaign(cstr_problem(cstr_dynamics(), horizon=6), settings_from({}), seed=1)
    moves(campaign, 6)
    assert len(built) == 1
    solves = [
        solve
        for plan in campaign.plans.values()
        for trajectory in plan["trajectories"]
        for solve in trajectory["solves"]
    ]
    assert len(solves) > 12
    assert {solve["status"] for solve in solves} <= {"optimal", "acceptable"}
    assert all(solve["feasible"] for solve in solves) and max(solve["iterations"] for solve in solves) < 100


@pytest.mark.parametrize("profile", ["held", "ramped"])
def test_the_plan_is_what_the_differential_equations_do(profile: Any) -> None:
    rate = 0.5 if profile == "ramped" else None
    dynamics = cstr_dynamics(inputs=[ModelInput("flow", "flow_in", 0.1, 2.0, rate=rate, profile=profile)])
    problem = cstr_problem(dynamics, start={"flow": 0.6} if rate else {})
    campaign = Campaign(problem, settings_from({}), seed=2)
    campaign.ask()
    plan = campaign.method.planner.previous
    states = physical(problem.coordinates, plan.states)
    stated = discretisation_error(dynamics, np.asarray(problem.start_state), problem.horizon).shares
    assert stated is not None and stated.max() < 1e-3
    exact = states[0, :2]
    for state, following, action in zip(states[:-1], states[1:], plan.actions[:, 0], strict=True):
        begin = state[2] if rate else action

        def flow(t: float, begin: float = begin, action: float = action) -> float:
            return begin + action * t if rate else begin

        exact = cstr_after(exact, flow)
        assert (np.abs(following[:2] - exact) / 5.0 <= stated[:2]).all()


def test_a_coarse_discretisation_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    problem = cstr_problem(cstr_dynamics(elements=1, points=0), horizon=3)
    with caplog.at_level(logging.WARNING):
        Campaign(problem, settings_from({})).ask()
    assert "as a share of each range: A 0.19, B 0.25; more than 0.01" in caplog.text and "use more `elements`" in caplog.text
    found = {finding.subject: finding for finding in check_problem(problem, settings_from({}))}
    assert found["discretisation"].level == "warning"
    fine = {f.subject: f for f in check_problem(cstr_problem(cstr_dynamics(), horizon=3), settings_from({}))}
    assert fine["discretisation"].level == "ok" and fine["first plan"].level == "ok"


def test_inequalities_of_the_model_limit_the_plan() -> None:
    """The tank's level may rise to 3 m, its pump house allows 1.3 m: a plan towards 3 m stays below it, inside steps too."""

    def build() -> pyo.ConcreteModel:
        model = heated_tank()
        model.pump_house = pyo.Constraint(model.time, rule=lambda m, t: m.level[t] <= 1.3)
        return model

    for make, highest in ((build, 1.3), (heated_tank, 1.6)):
        dynamics = dynamics_from_model(
            make,
            [ModelState("level", "level"), ModelState("temperature", "temperature", 5.0, 90.0, "degC")],
            [ModelInput("inflow", "inflow", 1.0, 40.0, "l/s"), ModelInput("power", "power", 0.0, 2000.0, "kW")],
            duration=1 * pyo.units.minute,
        )
        problem = problem_on(dynamics, {"level": 1.0, "temperature": 20.0}, horizon=4)
        oracle, target = TrajectoryOracle(problem, NonlinearSolverSettings()), np.array([0.5, 0.0])
        plan = oracle.best_path(
            DistanceObjective.to(target), np.array([problem.start_state]), np.empty((0, 2)), target[None, :]
        )
        levels = physical(problem.coordinates, plan.states)[:, 0]
        if make is build:
            assert levels.max() == pytest.approx(highest, abs=1e-5)
        else:
            assert levels.max() > highest
