"""Plants that are Pyomo models, shared by several tests, with their right-hand sides as plain functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo
from pyomo.contrib.mpc.examples.cstr.model import create_instance, make_model
from scipy.integrate import solve_ivp

from tcbo_pyomo import ContinuousProblem, ModelInput, ModelState, SquaredExponential, dynamics_from_model
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics

CSTR_STATES = [ModelState("A", "conc[*,A]", 0.0, 5.0), ModelState("B", "conc[*,B]", 0.0, 5.0)]


def continuous_cstr() -> pyo.ConcreteModel:
    """Pyomo's CSTR as it ships, not discretised; the feed is fixed as its own example fixes it."""
    model = make_model(horizon=10.0)
    model.conc_in[:, "A"].fix(5.0)
    model.conc_in[:, "B"].fix(0.01)
    return model


def discretised_cstr() -> pyo.ConcreteModel:
    """Pyomo's CSTR as its own example builds it: backward differences, initial conditions and inputs fixed."""
    return create_instance(horizon=1.0, ntfe=20)


def cstr_dynamics(build: Callable[[], pyo.ConcreteModel] = continuous_cstr, **more: Any) -> ModelDynamics:
    inputs = more.pop("inputs", [ModelInput("flow", "flow_in", 0.1, 2.0)])
    return dynamics_from_model(build, CSTR_STATES, inputs, duration=1.0, **more)


def cstr_after(state: Array, flow: Callable[[float], float], until: float = 1.0) -> Array:
    """What the CSTR does by its own differential equations."""

    def slope(t: float, c: Array) -> list[float]:
        return [flow(t) * (5.0 - c[0]) - c[0], flow(t) * (0.01 - c[1]) + c[0]]

    return solve_ivp(slope, (0, until), state, rtol=1e-10, atol=1e-10, max_step=0.05).y[:, -1]


def cstr_problem(dynamics: ModelDynamics, horizon: int = 10, start: dict[str, float] | None = None) -> ContinuousProblem:
    return problem_on(dynamics, {"A": 1.0, "B": 0.0, **(start or {})}, horizon)


def problem_on(dynamics: ModelDynamics, start: dict[str, float], horizon: int) -> ContinuousProblem:
    return ContinuousProblem(
        name="pyomo_model",
        coordinates=dynamics.coordinates,
        dynamics=dynamics,
        start=start,
        horizon=horizon,
        episodes=1,
        kernel=SquaredExponential(variance=1.0, lengthscale=0.3),
        noise=1e-4,
        truth=lambda points: np.sin(points[:, 0]) + np.cos(2.0 * points[:, 1]),
    )


def heated_tank() -> pyo.ConcreteModel:
    """An index-1 DAE with two inputs and units: level and temperature, outflow and heat loss by algebraic equations."""
    u = pyo.units
    model = pyo.ConcreteModel()
    model.time = dae.ContinuousSet(bounds=(0, 60))
    model.level = pyo.Var(model.time, initialize=1.0, bounds=(0.1, 3.0), units=u.m)
    model.temperature = pyo.Var(model.time, initialize=300.0, units=u.K)
    model.inflow = pyo.Var(model.time, initialize=0.01, units=u.m**3 / u.s)
    model.power = pyo.Var(model.time, initialize=0.0, units=u.W)
    model.outflow = pyo.Var(model.time, initialize=0.01, units=u.m**3 / u.s)
    model.loss = pyo.Var(model.time, initialize=0.0, units=u.W)
    model.rise = dae.DerivativeVar(model.level, wrt=model.time, units=u.m / u.s)
    model.warming = dae.DerivativeVar(model.temperature, wrt=model.time, units=u.K / u.s)
    model.area = pyo.Param(initialize=2.0, mutable=True, units=u.m**2)

    @model.Constraint(model.time)
    def valve(m: Any, t: float) -> Any:
        # Implicit in the outflow: the pipe's friction grows with it.
        return m.outflow[t] + 5.0 * m.outflow[t] ** 2 == 0.01 * m.level[t]

    @model.Constraint(model.time)
    def insulation(m: Any, t: float) -> Any:
        return m.loss[t] == 500.0 * (m.temperature[t] - 290.0)

    @model.Constraint(model.time)
    def mass(m: Any, t: float) -> Any:
        return m.area * m.rise[t] == m.inflow[t] - m.outflow[t]

    @model.Constraint(model.time)
    def energy(m: Any, t: float) -> Any:
        heat = 4.18e6 * m.inflow[t] * (285.0 - m.temperature[t]) + m.power[t] - m.loss[t]
        return 4.18e6 * m.area * m.level[t] * m.warming[t] == heat

    return model


def tank_after(level: float, celsius: float, inflow: float, power: float, seconds: float = 60.0) -> Array:
    """The same by hand: level in m and temperature in degC after a step; inflow in l/s, power in kW."""

    def slope(t: float, x: Array) -> list[float]:
        outflow = (-1.0 + np.sqrt(1.0 + 20.0 * 0.01 * x[0])) / 10.0
        heat = 4.18e6 * inflow * 1e-3 * (285.0 - x[1]) + power * 1e3 - 500.0 * (x[1] - 290.0)
        return [(inflow * 1e-3 - outflow) / 2.0, heat / (4.18e6 * 2.0 * x[0])]

    end = solve_ivp(slope, (0, seconds), [level, celsius + 273.15], rtol=1e-10, atol=1e-10).y[:, -1]
    return np.array([end[0], end[1] - 273.15])
