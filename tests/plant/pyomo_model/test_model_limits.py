"""Limits that a user's model has itself: plans, candidates, recommendations, one-step methods and audits keep them."""

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo
import pytest

from tcbo_pyomo import (
    ContinuousProblem,
    ModelInput,
    ModelState,
    SquaredExponential,
    dynamics_from_model,
    run_campaign,
    settings_from,
)
from tcbo_pyomo.checks.audit import audit_path
from tcbo_pyomo.planning.continuous.simulated_episodes import Episodes
from tcbo_pyomo.solvers.nonlinear.step_simulator import next_states

HOTTEST, RATE, STEP, START = 350.0, 0.2, 2.5, 310.0
FIELDS = {"inequality": 500.0, "bound": HOTTEST}


def heated_tank(kind):
    """T' = RATE (Tj - T) with T at most HOTTEST at all times, as an inequality or as a bound of the variable."""

    def build():
        m = pyo.ConcreteModel()
        m.t = dae.ContinuousSet(bounds=(0, STEP))
        m.T = pyo.Var(m.t, bounds=(250, FIELDS[kind]), initialize=320)
        m.Tj = pyo.Var(m.t, bounds=(290, 390), initialize=320)
        m.dT = dae.DerivativeVar(m.T, wrt=m.t)
        m.heat = pyo.Constraint(m.t, rule=lambda m, t: m.dT[t] == RATE * (m.Tj[t] - m.T[t]))
        if kind == "inequality":
            m.not_too_hot = pyo.Constraint(m.t, rule=lambda m, t: m.T[t] <= HOTTEST)
        return m

    return build


def tank(kind):
    dynamics = dynamics_from_model(
        heated_tank(kind), [ModelState("T", "T", 280, 400)], [ModelInput("jacket", "Tj", 290, 390)]
    )
    return ContinuousProblem(
        "tank",
        dynamics.coordinates,
        dynamics,
        {"T": START},
        4,
        2,
        SquaredExponential(1.0, 0.4),
        1e-4,
        truth=lambda points: points[:, 0] / 100.0,
        maximum=HOTTEST / 100.0,
    )


def after(temperature, jacket):
    """The equation solved by hand."""
    return jacket + (temperature - jacket) * np.exp(-RATE * STEP)


@pytest.mark.parametrize("kind", FIELDS)
@pytest.mark.parametrize("method", ["mdp_bo", "local_ucb"])
def test_moves_and_the_recommendation_keep_the_limits_of_the_model(kind, method):
    problem = tank(kind)
    result = run_campaign(problem, settings_from({"method": method, "candidates": {"count": 6}}), seed=1)
    visited = [problem.describe(point)["T"] for path in result.paths for point in path]
    assert max(visited) <= HOTTEST + 1e-3
    best = problem.describe(result.campaign.recommendation)["T"]
    # Without the limit an episode reaches 379: four moves with the jacket at 390.
    assert after(after(after(after(START, 390.0), 390.0), 390.0), 390.0) > 378.0
    assert HOTTEST - 1.0 <= best <= HOTTEST + 1e-3
    temperature = START
    for move in result.campaign.route:
        temperature = after(temperature, move["actions"]["jacket"])
        assert temperature <= HOTTEST + 1e-2
    assert temperature == pytest.approx(best, abs=0.05)


@pytest.mark.parametrize("kind", FIELDS)
def test_simulated_episodes_stop_where_a_limit_is_broken(kind):
    problem = tank(kind)
    states, jackets = np.full((3, 1), problem.locate({"T": 345.0})), np.array([[345.0], [355.0], [390.0]])
    free, kept = (next_states(problem.dynamics, states, jackets, limits)[:, 0] for limits in (False, True))
    ends = [after(345.0, jacket) for jacket in jackets[:, 0]]
    np.testing.assert_allclose(280 + 120 * (free + 0.5), ends, atol=1e-3)
    assert np.isnan(kept).tolist() == [end > HOTTEST for end in ends] == [False, False, True]
    hot = Episodes(problem).simulate(np.full((1, 4, 1), 390.0))[0, :, 0]
    assert not np.isnan(hot[1]) and np.isnan(hot[2:]).all()


@pytest.mark.parametrize("kind", FIELDS)
def test_an_audit_finds_the_limit_that_a_move_broke(kind):
    problem = tank(kind)
    warm = after(START, 390.0)
    assert audit_path(problem, [{"T": START}, {"T": warm}, {"T": after(warm, 345.0)}]) == []
    (found,) = audit_path(problem, [{"T": START}, {"T": warm}, {"T": after(warm, 390.0)}])
    name = "not_too_hot" if kind == "inequality" else "T["
    assert found.step == 2 and found.limit.startswith(f"the model's own limit {name}")
