"""Variables that a row defines become formulas: fewer columns, the same solutions, and no bound is lost."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from model_plants import cstr_dynamics

from tcbo_pyomo import build_trajectory
from tcbo_pyomo.plant.pyomo_model.defining_rows import definitions
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.nonlinear.programme import compile_nonlinear_model
from tcbo_pyomo.solvers.nonlinear.step_simulator import StepSimulator, simulator_of


def test_a_quarter_of_the_columns_and_the_same_solutions() -> None:
    dynamics = cstr_dynamics()
    start, actions = np.array([-0.3, -0.5]), np.array([[0.7], [1.9]])
    model = build_trajectory(dynamics.coordinates, dynamics, start, 2)
    first = [*model.state.values(), *model.action.values()]
    whole = compile_nonlinear_model(model, first)
    short = compile_nonlinear_model(model, first, dynamics.formulas(model))
    assert len(short.columns) < len(whole.columns) / 3 and len(short.rows) - len(short.columns) == len(whole.rows) - len(
        whole.columns
    )
    simulator = simulator_of(dynamics)
    assert isinstance(simulator, StepSimulator)
    states = [start]
    for action in actions:
        states.append(simulator.next_state(states[-1], action))
    inside = np.concatenate([simulator.inside(s, a) for s, a in zip(states[:-1], actions, strict=True)])
    order = [v for step in range(2) for v in dynamics.links(model, step).columns]
    values = dict(zip(map(id, order), inside, strict=True)) | dict(
        zip(map(id, first), [*np.ravel(states), *np.ravel(actions)], strict=True)
    )
    point = np.array([values[id(column)] for column in short.columns])
    assert short.violation(point, Bounds(*short.column_bounds(), *short.row_bounds()))[0] < 1e-9
    values |= dict(zip(map(id, short.defined), short.defined_values(point), strict=True))
    full = np.array([values[id(column)] for column in whole.columns])
    assert whole.violation(full, Bounds(*whole.column_bounds(), *whole.row_bounds()))[0] < 1e-9


@pytest.fixture
def model() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=1.0)
    model.y = pyo.Var(initialize=1.0)
    model.z = pyo.Var(initialize=1.0)
    model.u = pyo.Var(initialize=1.0, bounds=(0.0, 2.0))
    return model


def defined(model: pyo.ConcreteModel) -> list[tuple[str, str]]:
    rows = list(model.component_data_objects(pyo.Constraint, active=True))
    return [(variable.name, row.name) for variable, row in definitions(rows, [model.x], [model.u])]


def test_an_alias_hands_its_bounds_on(model: pyo.ConcreteModel) -> None:
    model.y.setlb(0.0)
    model.y.setub(6.0)
    model.alias = pyo.Constraint(expr=model.y == 3.0 - 2.0 * model.x)
    assert defined(model) == [("y", "alias")]
    assert model.x.bounds == (-1.5, 1.5)


def test_a_bound_that_follows_is_dropped_and_one_that_does_not_keeps_the_variable(model: pyo.ConcreteModel) -> None:
    model.y.setlb(0.0)
    model.follows = pyo.Constraint(expr=model.y == model.u**2)
    assert defined(model) == [("y", "follows")]
    model.y.setub(3.0)
    assert defined(model) == []


def test_formulas_never_need_themselves_and_come_in_order(model: pyo.ConcreteModel) -> None:
    model.one = pyo.Constraint(expr=model.y + model.z == model.u)
    model.two = pyo.Constraint(expr=model.y - model.z == pyo.exp(model.y) + model.x)
    assert defined(model) in ([("z", "one")], [("y", "one")], [("z", "two")])
    model.two.deactivate()
    model.three = pyo.Constraint(expr=model.z == 2.0 * model.x)
    assert defined(model) == [("z", "three"), ("y", "one")]
