"""An IDAES unit model, as it ships, as a plant: its steps against balances written by hand, and a plan over three steps."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from idaes.core import FlowsheetBlock
from idaes.models.properties.examples.saponification_reactions import SaponificationReactionParameterBlock
from idaes.models.properties.examples.saponification_thermo import SaponificationParameterBlock
from idaes.models.unit_models import CSTR
from model_plants import problem_on
from scipy.integrate import solve_ivp

from tcbo_pyomo import Campaign, ModelInput, ModelState, dynamics_from_model, settings_from
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical, scaled
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.solvers.nonlinear.discretisation_error import discretisation_error
from tcbo_pyomo.solvers.nonlinear.fine_steps import FineSteps
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of

FEED = {"H2O": 55388.0, "NaOH": 2.0, "EthylAcetate": 2.0, "SodiumAcetate": 1e-8, "Ethanol": 1e-8}
START = {"caustic": 1.0, "ester": 1.2, "acetate": 0.8, "ethanol": 0.8, "temperature": 30.0}


def flowsheet() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.fs = FlowsheetBlock(dynamic=True, time_set=[0, 60], time_units=pyo.units.s)
    model.fs.thermo = SaponificationParameterBlock()
    model.fs.reactions = SaponificationReactionParameterBlock(property_package=model.fs.thermo)
    model.fs.tank = CSTR(
        property_package=model.fs.thermo,
        reaction_package=model.fs.reactions,
        has_heat_of_reaction=True,
        has_heat_transfer=True,
    )
    inlet = model.fs.tank.inlet
    for component, concentration in FEED.items():
        inlet.conc_mol_comp[:, component].fix(concentration)
    inlet.temperature[:].fix(303.15)
    inlet.pressure[:].fix(101325.0)
    model.fs.tank.volume[:].fix(1.5)
    return model


@pytest.fixture(scope="module")
def dynamics() -> ModelDynamics:
    outlet = "fs.tank.control_volume.properties_out[*]."
    species = {"caustic": "NaOH", "ester": "EthylAcetate", "acetate": "SodiumAcetate", "ethanol": "Ethanol"}
    return dynamics_from_model(
        flowsheet,
        [
            *(ModelState(name, f"{outlet}conc_mol_comp[{c}]", 0.0, 2.0, "mmol/l") for name, c in species.items()),
            ModelState("temperature", f"{outlet}temperature", unit="degC"),
        ],
        [
            ModelInput("feed", "fs.tank.control_volume.properties_in[*].flow_vol", 1.0, 60.0, "l/s"),
            ModelInput("heating", "fs.tank.heat_duty", 0.0, 2000.0, "kW"),
        ],
        duration=1 * pyo.units.minute,
    )


def by_hand(state: Array, feed: float, heating: float) -> Array:
    """The balances of a tank of constant volume: four species and the heat of its water."""
    inside = np.array([2.0, 2.0, 1e-8, 1e-8])

    def slope(t: float, x: Array) -> Array:
        rate = 3.132e6 * np.exp(-43000.0 / (8.31446 * x[4])) * x[0] * x[1]
        exchange = feed * 1e-3 / 1.5
        warming = exchange * (303.15 - x[4]) + (heating * 1e3 / 1.5 + 49000.0 * rate) / (55388.0 * 75.327)
        return np.append(exchange * (inside - x[:4]) + rate * np.array([-1.0, -1.0, 1.0, 1.0]), warming)

    begin = np.append(state[:4], state[4] + 273.15)
    end = solve_ivp(slope, (0, 60), begin, method="Radau", rtol=1e-10, atol=1e-10).y[:, -1]
    return np.append(end[:4], end[4] - 273.15)


def test_units_limits_and_water_are_understood(dynamics: ModelDynamics) -> None:
    assert [c.name for c in dynamics.coordinates] == list(START)
    temperature = dynamics.coordinates[-1]
    assert (temperature.lower, temperature.upper) == pytest.approx((25.0, 50.0)) and temperature.unit == "degC"
    assert dynamics.duration == pytest.approx(60.0)


@pytest.mark.parametrize("action", [(10.0, 500.0), (60.0, 0.0), (1.0, 1200.0)])
def test_a_step_is_what_the_balances_say(dynamics: ModelDynamics, action: tuple[float, float]) -> None:
    axes, state = dynamics.coordinates, np.array(list(START.values()))
    exact = by_hand(state, *action)
    for simulator, allowed in ((simulator_of(dynamics), 1e-3), (FineSteps(dynamics), 2e-5)):
        reached = physical(axes, simulator.next_state(scaled(axes, state), np.array(action)))
        np.testing.assert_allclose(reached, exact, rtol=allowed, atol=allowed)


def test_three_steps_are_planned_and_hold(dynamics: ModelDynamics) -> None:
    problem = problem_on(dynamics, START, horizon=3).changed(truth=None)
    campaign = Campaign(problem, settings_from({}), seed=1)
    campaign.ask()
    plan = campaign.method.planner.previous
    stated = discretisation_error(dynamics, np.asarray(problem.start_state), 3)
    assert stated.shares is not None and stated.shares.max() < 0.01
    path = physical(problem.coordinates, plan.states)
    exact = path[0]
    for action, following in zip(plan.actions, path[1:], strict=True):
        exact = by_hand(exact, *action)
        missed = np.abs(scaled(problem.coordinates, following) - scaled(problem.coordinates, exact))
        assert (missed <= stated.shares + 1e-5).all()
