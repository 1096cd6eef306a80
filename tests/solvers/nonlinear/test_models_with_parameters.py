"""Mutable Params, fixed Vars and units inside dynamics: such models are solved, not only compiled."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import NonlinearDynamics
from tcbo_pyomo.solvers.nonlinear.solver_by_name import nonlinear_solver
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of

TANK = (Coordinate("level", 0.0, 10.0, "m"),)
INTERFACES = [
    ("casadi", "ipopt"),
    pytest.param(
        ("cyipopt", "ipopt"),
        marks=pytest.mark.skipif(importlib.util.find_spec("cyipopt") is None, reason="cyipopt is not installed"),
    ),
    pytest.param(
        ("pyomo", "pounce"),
        marks=pytest.mark.skipif(importlib.util.find_spec("pyomo_pounce") is None, reason="pounce is not installed"),
    ),
]


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
