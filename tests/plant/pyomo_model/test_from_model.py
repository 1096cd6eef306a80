"""A Pyomo model handed over as a plant: what its steps do, against the same equations integrated by scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_plants import (
    CSTR_STATES,
    continuous_cstr,
    cstr_after,
    cstr_dynamics,
    discretised_cstr,
    heated_tank,
    tank_after,
)

from tcbo_pyomo import Coordinate, ModelInput, ModelState, build_trajectory, dynamics_from_model
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical, scaled
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.solvers.nonlinear.discretisation_error import discretisation_error
from tcbo_pyomo.solvers.nonlinear.fine_steps import FineSteps
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of


def after(dynamics: ModelDynamics, state: list[float], action: list[float], small_steps: bool = False) -> Array:
    simulator = FineSteps(dynamics) if small_steps else simulator_of(dynamics)
    axes = dynamics.coordinates
    return physical(axes, simulator.next_state(scaled(axes, state), np.array(action)))


def test_the_cstr_that_ships_with_pyomo() -> None:
    dynamics = cstr_dynamics()
    assert dynamics.coordinates == (Coordinate("A", 0.0, 5.0), Coordinate("B", 0.0, 5.0))
    assert dynamics.actions.names == ("flow",) and dynamics.duration == 1.0 and dynamics.start == {}
    exact = cstr_after(np.array([1.0, 0.2]), lambda t: 0.7)
    np.testing.assert_allclose(after(dynamics, [1.0, 0.2], [0.7]), exact, atol=5e-5)
    np.testing.assert_allclose(after(dynamics, [1.0, 0.2], [0.7], small_steps=True), exact, atol=1e-7)


def test_as_its_own_example_discretises_it() -> None:
    dynamics = cstr_dynamics(discretised_cstr)
    assert dynamics.start == {"A": 1.0, "B": 0.0}
    state = np.array([1.0, 0.0])
    for _ in range(20):
        first = (state[0] + 0.05 * 0.7 * 5.0) / (1 + 0.05 * 1.7)
        state = np.array([first, (state[1] + 0.05 * (0.7 * 0.01 + first)) / (1 + 0.05 * 0.7)])
    np.testing.assert_allclose(after(dynamics, [1.0, 0.0], [0.7]), state, atol=1e-9)
    exact = cstr_after(np.array([1.0, 0.0]), lambda t: 0.7)
    np.testing.assert_allclose(after(dynamics, [1.0, 0.0], [0.7], small_steps=True), exact, atol=1e-7)


def test_a_step_may_be_part_of_a_longer_model() -> None:
    whole = dynamics_from_model(lambda: discretised_cstr(), CSTR_STATES, [ModelInput("flow", "flow_in", 0.1, 2.0)])
    half = dynamics_from_model(
        discretised_cstr, CSTR_STATES, [ModelInput("flow", "flow_in", 0.1, 2.0)], duration=0.5, time="time"
    )
    there = after(half, [1.0, 0.0], [0.7]).tolist()
    np.testing.assert_allclose(after(half, there, [0.7]), after(whole, [1.0, 0.0], [0.7]), atol=1e-9)


@pytest.mark.parametrize("profile", ["held", "ramped"])
def test_inputs_with_a_rate_have_a_present_value(profile: Any) -> None:
    dynamics = cstr_dynamics(inputs=[ModelInput("flow", "flow_in", 0.1, 2.0, rate=0.6, profile=profile)])
    assert [c.name for c in dynamics.coordinates] == ["A", "B", "flow"]
    assert dynamics.actions.names == ("flow_change",)
    np.testing.assert_allclose(dynamics.actions.bounds(), [[-0.6], [0.6]])

    def flow(t: float) -> float:
        return 0.5 + (0.4 * t if profile == "ramped" else 0.4)

    for small, allowed in ((False, 5e-5), (True, 1e-7)):
        reached = after(dynamics, [1.0, 0.2, 0.5], [0.4], small)
        np.testing.assert_allclose(reached, [*cstr_after(np.array([1.0, 0.2]), flow), 0.9], atol=allowed)


TANK_STATES = [ModelState("level", "level"), ModelState("temperature", "temperature", 5.0, 90.0, "degC")]
TANK_INPUTS = [ModelInput("inflow", "inflow", 1.0, 40.0, "l/s"), ModelInput("power", "power[*]", 0.0, 2000.0, "kW")]


@settings(max_examples=20, deadline=None)
@given(
    st.tuples(st.floats(0.3, 2.5), st.floats(10.0, 60.0), st.floats(1.0, 40.0), st.floats(0.0, 2000.0)),
)
def test_an_index_one_dae_with_two_inputs_and_units(case: tuple[float, float, float, float]) -> None:
    level, celsius, inflow, power = case
    dynamics = TANK
    assert dynamics.coordinates[0] == Coordinate("level", 0.1, 3.0, "m")
    reached = after(dynamics, [level, celsius], [inflow, power])
    np.testing.assert_allclose(reached, tank_after(*case), rtol=1e-5, atol=1e-4)


TANK = dynamics_from_model(heated_tank, TANK_STATES, TANK_INPUTS, duration=1 * pyo.units.minute)


def test_fixed_variables_and_mutable_params_stay_what_they_are() -> None:
    model = build_trajectory(TANK.coordinates, TANK, {"level": 1.0, "temperature": 20.0}, 2)
    assert model.plant_1.area.is_parameter_type() and model.plant_1.area.mutable
    cstr = cstr_dynamics()
    copied = build_trajectory(cstr.coordinates, cstr, {"A": 1.0, "B": 0.0}, 2).plant_0
    assert all(data.fixed and data.value == 5.0 for data in copied.conc_in[:, "A"])


def test_a_model_of_one_step_without_time() -> None:
    def build() -> pyo.ConcreteModel:
        model = pyo.ConcreteModel()
        model.before, model.after = pyo.Var(initialize=1.0), pyo.Var(initialize=1.0)
        model.push, model.drag = pyo.Var(initialize=0.0), pyo.Var(initialize=0.1)
        model.law = pyo.Constraint(expr=model.drag == 0.1 * model.before**2)
        model.step = pyo.Constraint(expr=model.after == model.before + model.push - model.drag)
        return model

    dynamics = dynamics_from_model(
        build, [ModelState("speed", "before", 0.0, 5.0, end="after")], [ModelInput("push", "push", -1.0, 1.0)]
    )
    assert dynamics.duration is None
    assert after(dynamics, [2.0], [0.5])[0] == pytest.approx(2.0 + 0.5 - 0.4)


def with_product(fixed: bool = True) -> pyo.ConcreteModel:
    """The CSTR, and how much B has left it during a step."""
    model = continuous_cstr()
    model.made = pyo.Var(model.time, initialize=0.0)
    model.making = dae.DerivativeVar(model.made, wrt=model.time)
    model.product = pyo.Constraint(model.time, rule=lambda m, t: m.making[t] == m.flow_out[t] * m.conc[t, "B"])
    if fixed:
        model.made[0].fix(0.0)
    model.enough = pyo.Constraint(expr=model.made[10.0] >= 0.0)
    return model


def test_a_differential_variable_may_begin_anew_in_every_step() -> None:
    inputs = [ModelInput("flow", "flow_in", 0.1, 2.0)]
    dynamics = dynamics_from_model(with_product, CSTR_STATES, inputs, restarting=["made[*]"], elements=10)
    exact = cstr_after(np.array([1.0, 0.2]), lambda t: 0.7, until=10.0)
    np.testing.assert_allclose(after(dynamics, [1.0, 0.2], [0.7]), exact, atol=5e-5)


def test_an_initial_condition_that_is_a_row_is_taken_as_the_start() -> None:
    def build() -> pyo.ConcreteModel:
        model = continuous_cstr()
        model.initially = pyo.Constraint(expr=2.0 * model.conc[0, "A"] == 3.0)
        model.goal = pyo.Objective(expr=model.conc[10.0, "A"])
        return model

    dynamics = cstr_dynamics(build)
    assert dynamics.start == {"A": 1.5}
    exact = cstr_after(np.array([1.0, 0.2]), lambda t: 0.7)
    np.testing.assert_allclose(after(dynamics, [1.0, 0.2], [0.7]), exact, atol=5e-5)


def test_the_stated_error_covers_paths_and_coarse_steps_are_warned_of() -> None:
    fine, coarse = cstr_dynamics(), cstr_dynamics(elements=1, points=0)
    start = scaled(fine.coordinates, [1.0, 0.0])
    generator = np.random.default_rng(5)
    for dynamics, warned in ((fine, False), (coarse, True)):
        error = discretisation_error(dynamics, start, 10)
        assert error.shares is not None and error.too_large is warned
        assert ("use more `elements`" in error.text) is warned
        for _ in range(5):
            one = exact = np.array([1.0, 0.0])
            for flow in generator.uniform(0.1, 2.0, 10):
                one = after(dynamics, one.tolist(), [flow])
                exact = cstr_after(exact, lambda t, flow=flow: flow)
                assert (np.abs(one - exact) / 5.0 <= error.shares).all()


def no_model() -> pyo.ConcreteModel:
    raise RuntimeError("no licence")


def with_integer() -> pyo.ConcreteModel:
    model = continuous_cstr()
    model.pumps = pyo.Var(domain=pyo.NonNegativeIntegers, initialize=1)
    model.pumping = pyo.Constraint(expr=model.flow_in[0] <= model.pumps)
    return model


def overdetermined() -> pyo.ConcreteModel:
    model = continuous_cstr()
    model.total = pyo.Constraint(model.time, rule=lambda m, t: m.conc[t, "A"] + m.conc[t, "B"] == 5.0)
    return model


def in_space_too() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.time, model.length = dae.ContinuousSet(bounds=(0, 1)), dae.ContinuousSet(bounds=(0, 1))
    model.heat = pyo.Var(model.time, model.length)
    model.change = dae.DerivativeVar(model.heat, wrt=model.time)
    model.slope = dae.DerivativeVar(model.heat, wrt=model.length)
    model.law = pyo.Constraint(model.time, model.length, rule=lambda m, t, x: m.change[t, x] == -m.slope[t, x])
    return model


def begins_nowhere() -> pyo.ConcreteModel:
    model = continuous_cstr()
    model.conc[0, "A"].fix(float("inf"))
    return model


FLOW = [ModelInput("flow", "flow_in", 0.1, 2.0)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dynamics_from_model(3, CSTR_STATES, FLOW), r"model 3 must be a function that returns a ConcreteModel"),
        (lambda: dynamics_from_model(no_model, CSTR_STATES, FLOW), "'no_model' failed: RuntimeError: no licence"),
        (lambda: dynamics_from_model(lambda: 3, CSTR_STATES, FLOW), "returned a int, not a ConcreteModel"),
        (lambda: dynamics_from_model(continuous_cstr, [], FLOW), r"states: none given; give a list of ModelState"),
        (lambda: cstr_dynamics(inputs=[ModelState("A", "flow_in")]), r"inputs: ModelState.*give a list of ModelInput"),
        (lambda: cstr_dynamics(inputs=[ModelInput("A", "flow_in", 0, 1)]), "the name 'A' is used twice"),
        (
            lambda: dynamics_from_model(continuous_cstr, [ModelState("k", "k_rxn", 0, 1)], FLOW),
            "state 'k': 'k_rxn' is a Param, not a Var",
        ),
        (
            lambda: dynamics_from_model(continuous_cstr, [ModelState("A", "conc", 0, 1)], FLOW),
            r"'conc' has indices besides time; name one, such as 'conc\[\*,A\]'",
        ),
        (
            lambda: dynamics_from_model(continuous_cstr, [ModelState("A", "concc[*,A]", 0, 1)], FLOW),
            r"the model has no 'concc\[\*,A\]'; did you mean",
        ),
        (
            lambda: cstr_dynamics(inputs=[ModelInput("f", lambda m: m.flw, 0, 1)]),
            "input 'f': its function of the model",
        ),
        (
            lambda: cstr_dynamics(inputs=[ModelInput("flow", "flow_in")]),
            r"input 'flow': no limits; 'flow_in\[.*\]' has the bounds \(0.0, None\), give lower and upper",
        ),
        (
            lambda: dynamics_from_model(
                heated_tank, [TANK_STATES[0], ModelState("T", "temperature", 5, 90)], TANK_INPUTS[:1]
            ),
            "too many unknowns in a step, such as 'power",
        ),
        (
            lambda: dynamics_from_model(heated_tank, [TANK_STATES[0], ModelState("T", "temperature")], TANK_INPUTS),
            "state 'T': no limits",
        ),
        (
            lambda: dynamics_from_model(
                heated_tank, [TANK_STATES[0], ModelState("T", "temperature", 1, 2, "bar")], TANK_INPUTS
            ),
            r"state 'T': unit 'bar' does not convert to K, the unit of 'temperature\[0\]'",
        ),
        (
            lambda: dynamics_from_model(continuous_cstr, CSTR_STATES[:1], FLOW),
            r"'conc\[0,B\]' at the start of a step follows from no state; declare it as a state",
        ),
        (lambda: cstr_dynamics(overdetermined), "inconsistent initial condition, 'total"),
        (lambda: cstr_dynamics(begins_nowhere), "state 'A': the model begins with inf; its initial condition must be a finite"),
        (lambda: cstr_dynamics(with_integer), "'pumps' has the domain NonNegativeIntegers; a plant has continuous"),
        (
            lambda: cstr_dynamics(lambda: with_product(), restarting=["made[*]"]),
            "'enough' uses a time after the step, which ends at 1",
        ),
        (lambda: cstr_dynamics(elements=0), "discretisation: elements 0 must be a whole number of at least 1"),
        (
            lambda: dynamics_from_model(continuous_cstr, CSTR_STATES, FLOW, duration=11.0),
            "duration 11.0: 'time' goes from 0 to 10",
        ),
        (
            lambda: dynamics_from_model(discretised_cstr, CSTR_STATES, FLOW, duration=0.33),
            "duration 0.33: a step must end at a finite element",
        ),
        (
            lambda: dynamics_from_model(continuous_cstr, CSTR_STATES, FLOW, duration=1 * pyo.units.minute),
            "the model's derivatives have no units; give a number",
        ),
        (
            lambda: dynamics_from_model(heated_tank, TANK_STATES, TANK_INPUTS, duration=1 * pyo.units.m),
            "does not convert to the model's unit of time",
        ),
        (
            lambda: dynamics_from_model(continuous_cstr, CSTR_STATES, FLOW, time="tme"),
            "no ContinuousSet 'tme'; did you mean",
        ),
        (
            lambda: dynamics_from_model(in_space_too, [ModelState("h", "heat[*,0]", 0, 1)], FLOW),
            r"several ContinuousSets \(time, length\); name the one that is time",
        ),
        (
            lambda: dynamics_from_model(in_space_too, [ModelState("h", "heat[*,0]", 0, 1)], FLOW, time="time"),
            "'slope' is still continuous in length; discretise all but time yourself",
        ),
        (
            lambda: dynamics_from_model(with_product, CSTR_STATES, FLOW),
            r"'made\[0\]' at the start .* list it under `restarting`",
        ),
        (
            lambda: dynamics_from_model(lambda: with_product(False), CSTR_STATES, FLOW, restarting=["made[*]"]),
            r"restarting: 'made\[\*\]' has no value at the start of a step; fix it there",
        ),
        (
            lambda: dynamics_from_model(continuous_cstr, CSTR_STATES, FLOW, restarting=["mde"]),
            "restarting: 'mde' is not a differential variable",
        ),
        (lambda: ModelInput("flow", "flow_in", 0, 1, rate=-1.0), "input 'flow': rate -1.0 must be a positive number"),
        (lambda: ModelInput("flow", "flow_in", 0, 1, profile="step"), "unknown profile 'step'; use 'held' or 'ramped'"),
        (lambda: ModelState("A", "conc", float("nan"), 1), "state 'A': lower nan must be a finite number"),
        (lambda: ModelState("A", 7), "state 'A': variable 7 must be a name"),
    ],
)
def test_wrong_input_is_one_line(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
