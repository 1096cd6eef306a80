"""Params, fixed Vars, units, sub-blocks and pyomo.dae inside dynamics: such models are solved, not only compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo
import pytest
from scipy.integrate import solve_ivp

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import NonlinearDynamics
from tcbo_pyomo.solvers.nonlinear.solver_by_name import nonlinear_solver
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of

TANK = (Coordinate("level", 0.0, 10.0, "m"),)
INTERFACES = [("casadi", "ipopt"), ("cyipopt", "ipopt"), ("pyomo", "pounce")]


def number(model: pyo.ConcreteModel) -> float:
    return 0.8


def mutable_param(model: pyo.ConcreteModel) -> Any:
    if not hasattr(model, "gain"):
        model.gain = pyo.Param(initialize=0.8, mutable=True)
    return model.gain


def fixed_variable(model: pyo.ConcreteModel) -> Any:
    if not hasattr(model, "gain"):
        model.gain = pyo.Var(initialize=0.8)
        model.gain.fix()
    return model.gain


def with_units(model: pyo.ConcreteModel) -> Any:
    if not hasattr(model, "gain"):
        model.gain = pyo.Param(initialize=0.8, mutable=True, units=pyo.units.m)
    return model.gain / pyo.units.m


def tank(gain: Callable[[Any], Any]) -> NonlinearDynamics:
    """The level follows the valve, the less the higher it stands."""

    def next_level(model: pyo.ConcreteModel, step: int) -> dict[str, Any]:
        level = model.physical[step, "level"]
        return {"level": level + gain(model) * model.action[step, "valve"] * pyo.exp(-0.1 * level)}

    return NonlinearDynamics(TANK, next_level, BoxActions({"valve": (-1.0, 1.0)}))


def planned(dynamics: NonlinearDynamics, interface: tuple[str, str], gain: float | None = None) -> Array:
    """The path of five steps from level 2 that comes nearest to level 4 early, in scaled coordinates."""
    start = np.array([-0.3])
    compiled = CompiledTrajectory(TANK, dynamics, start, 5, ())
    solver = nonlinear_solver(*interface, compiled.programme, compiled.terms)
    if gain is not None:
        compiled.model.gain.set_value(gain)
    x0 = compiled.vector(np.full((6, 1), -0.3), np.zeros((5, 1)))
    solution = solver.solve(Nearness(), x0, compiled.bounds(start[None], np.zeros((0, 1))))
    assert solution.status == "optimal" and solution.feasible
    return compiled.read(solution.values)[0].ravel()


class Nearness:
    """sum_h (x_h + 0.1)^2."""

    def value(self, points: Array) -> float:
        return float(((points + 0.1) ** 2).sum())

    def gradient(self, points: Array) -> Array:
        return 2.0 * (points + 0.1)

    def hessian(self, points: Array) -> Array:
        return np.full((len(points), 1, 1), 2.0)

    def expression(self, model: Any, steps: Any) -> Any:
        return sum((model.state[step, "level"] + 0.1) ** 2 for step in steps)


def by_hand(gain: float) -> Array:
    """The valve is wide open until level 4 is within reach."""
    levels = [2.0]
    for _ in range(5):
        levels.append(min(4.0, levels[-1] + gain * np.exp(-0.1 * levels[-1])))
    return np.array(levels) / 10.0 - 0.5


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("gain", [number, mutable_param, fixed_variable, with_units])
def test_a_model_with_parameters_is_planned_like_one_with_numbers(gain: Any, interface: tuple[str, str]) -> None:
    np.testing.assert_allclose(planned(tank(gain), interface), by_hand(0.8), atol=1e-5)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("gain", [mutable_param, fixed_variable])
def test_parameters_are_read_anew_before_each_solve(gain: Any, interface: tuple[str, str]) -> None:
    np.testing.assert_allclose(planned(tank(gain), interface, 0.5), by_hand(0.5), atol=1e-5)


@pytest.mark.parametrize("gain", [mutable_param, fixed_variable, with_units])
def test_such_models_are_simulated_too(gain: Any) -> None:
    after = simulator_of(tank(gain)).next_state(np.array([-0.3]), np.array([1.0]))
    assert after == pytest.approx(by_hand(0.8)[1:2], abs=1e-9)


def drained(model: pyo.ConcreteModel, step: int) -> pyo.Block:
    """d level / dt = valve - 0.3 level over one step, in a block of its own that the caller discretises."""
    block = pyo.Block(concrete=True)
    model.add_component(f"drain_{step}", block)
    block.time = dae.ContinuousSet(bounds=(0, 1))
    block.level = pyo.Var(block.time, initialize=2.0)
    block.slope = dae.DerivativeVar(block.level, wrt=block.time)
    block.start = pyo.Constraint(expr=block.level[0] == model.physical[step, "level"])
    block.balance = pyo.Constraint(
        block.time, rule=lambda b, t: b.slope[t] == model.action[step, "valve"] - 0.3 * b.level[t]
    )
    return block


def sub_block(model: pyo.ConcreteModel, step: int) -> dict[str, Any]:
    block = pyo.Block(concrete=True)
    model.add_component(f"inside_{step}", block)
    block.flow = pyo.Var(initialize=0.0)
    block.outlet = pyo.Constraint(expr=block.flow * (1 + block.flow**2) == 0.1 * model.physical[step, "level"])
    return {"level": model.physical[step, "level"] + model.action[step, "valve"] - block.flow}


def collocation(model: pyo.ConcreteModel, step: int) -> dict[str, Any]:
    block = drained(model, step)
    pyo.TransformationFactory("dae.collocation").apply_to(block, nfe=2, ncp=3)
    return {"level": block.level[1]}


def finite_differences(model: pyo.ConcreteModel, step: int) -> dict[str, Any]:
    block = drained(model, step)
    pyo.TransformationFactory("dae.finite_difference").apply_to(block, nfe=4, scheme="BACKWARD")
    return {"level": block.level[1]}


def after_sub_block(level: float, valve: float) -> float:
    flow = float(np.real(np.roots([1.0, 0.0, 1.0, -0.1 * level])[-1]))
    return level + valve - flow


def after_drain(level: float, valve: float) -> float:
    return float(solve_ivp(lambda t, y: valve - 0.3 * y, (0, 1), [level], rtol=1e-10, atol=1e-10).y[0, -1])


def after_euler(level: float, valve: float) -> float:
    for _ in range(4):
        level = (level + 0.25 * valve) / (1 + 0.25 * 0.3)
    return level


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize(
    ("function", "by_numbers"),
    [(sub_block, after_sub_block), (collocation, after_drain), (finite_differences, after_euler)],
)
def test_equations_of_a_step_are_solved_and_planned_again(
    function: Any, by_numbers: Callable[[float, float], float], interface: tuple[str, str]
) -> None:
    """The valve is wide open until level 4 is within reach; after two moves the rest is planned again."""
    dynamics = NonlinearDynamics(TANK, function, BoxActions({"valve": (-1.0, 2.0)}))
    levels = [2.0]
    for _ in range(5):
        levels.append(min(4.0, by_numbers(levels[-1], 2.0)))
    np.testing.assert_allclose(planned(dynamics, interface), np.array(levels) / 10 - 0.5, atol=1e-5)
    compiled = CompiledTrajectory(TANK, dynamics, np.array([-0.3]), 5, ())
    solver = nonlinear_solver(*interface, compiled.programme, compiled.terms, max_iterations=100)
    made, path = np.array([[0.5], [-0.5]]), [2.0]
    for valve in made.ravel():
        path.append(by_numbers(path[-1], valve))
    scaled_path = np.array(path)[:, None] / 10 - 0.5
    x0 = compiled.vector(np.vstack([scaled_path, np.tile(scaled_path[-1], (3, 1))]), np.vstack([made, np.zeros((3, 1))]))
    solution = solver.solve(Nearness(), x0, compiled.bounds(scaled_path, made))
    assert solution.status == "optimal" and solution.feasible
    for _ in range(3):
        path.append(min(4.0, by_numbers(path[-1], 2.0)))
    np.testing.assert_allclose(compiled.read(solution.values)[0].ravel(), np.array(path) / 10 - 0.5, atol=1e-5)
