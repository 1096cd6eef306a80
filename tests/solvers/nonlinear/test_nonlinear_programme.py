"""Pyomo constraints walked into CasADi: exact derivatives, parameters, and what is refused by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo
import pyomo.gdp as gdp
import pytest
from continuous_plants import PLANE, reactor_dynamics

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints import Box, Circle, ForbiddenRegion, Polygon, ResourceBudget
from tcbo_pyomo.models.trajectory import build_trajectory
from tcbo_pyomo.plant.actions import NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.nonlinear.programme import NonlinearProgramme, compile_nonlinear_model


def fuel(left: dict, right: dict) -> object:
    return ((right["x"] - left["x"]) ** 2 + (right["y"] - left["y"]) ** 2) ** 0.5 + abs(right["y"] - left["y"])


def programmes() -> dict[str, NonlinearProgramme]:
    constraints = [
        ForbiddenRegion(Circle({"x": 4, "y": 2}, 1)),
        ForbiddenRegion(Circle({"x": 4, "y": 2}, 1), crossing=True),
        ForbiddenRegion(Box({"x": (3, 5)})),
        ForbiddenRegion(Polygon(("x", "y"), [(3, 1), (6, 1), (6, 2), (4, 2), (4, 4), (3, 4)])),
        ResourceBudget("fuel", fuel, 4.0),
    ]
    plane = build_trajectory(PLANE, LinearDynamics.free_moves(2, NormActions(0.2)), np.zeros(2), 3, constraints)
    dynamics = reactor_dynamics()
    reactor = build_trajectory(dynamics.coordinates, dynamics, np.zeros(2), 3)
    return {"obstacles": compile_nonlinear_model(plane), "reactor": compile_nonlinear_model(reactor)}


@pytest.mark.parametrize("name", ["obstacles", "reactor"])
def test_derivatives_agree_with_finite_differences(name: str) -> None:
    programme = programmes()[name]
    generator = np.random.default_rng(0)
    values = programme.start_values() + generator.uniform(0.01, 0.05, len(programme.columns))
    multipliers = generator.normal(size=len(programme.rows))
    none = programme.parameter_values()

    def lagrangian_gradient(x: Array) -> Array:
        return np.array(programme.jac(x, none)).T @ multipliers

    jacobian = np.array(programme.jac(values, none))
    upper = np.array(programme.hess(values, none, multipliers))
    hessian = upper + np.triu(upper, 1).T
    step = 1e-6
    for column in range(len(values)):
        ahead, behind = values.copy(), values.copy()
        ahead[column] += step
        behind[column] -= step
        slope = (programme.row_values(ahead) - programme.row_values(behind)) / (2 * step)
        np.testing.assert_allclose(jacobian[:, column], slope, rtol=1e-5, atol=1e-6)
        bend = (lagrangian_gradient(ahead) - lagrangian_gradient(behind)) / (2 * step)
        np.testing.assert_allclose(hessian[:, column], bend, rtol=1e-4, atol=1e-4)


def test_rows_equal_pyomos_own_values() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1, 2], initialize={0: 0.3, 1: 0.7, 2: 0.2})
    model.p = pyo.Param(initialize=2.0, mutable=True)
    model.e = pyo.Expression(expr=pyo.exp(model.x[0]) * model.x[1] ** model.p)
    x = model.x
    model.c = pyo.ConstraintList()
    for body in (
        model.e - 3 * x[2] / (1 + x[0]),
        pyo.log(x[1]) + pyo.sqrt(x[0]) + pyo.sin(x[1]) * pyo.tanh(x[2]) - pyo.atan(x[0]),
        sum(x[i] for i in x) + model.p * x[0] - (model.p + 1) * model.e**0.5,
        -(x[0] ** 3) + 2 ** x[1] + pyo.log10(x[2]),
    ):
        model.c.add((-1.0, body, 5.0))
    model.bound = pyo.Constraint(expr=x[0] <= model.p)
    programme = compile_nonlinear_model(model)
    values = np.array([x[i].value for i in x])
    expected = [pyo.value(row.body) for row in programme.rows]
    np.testing.assert_allclose(programme.row_values(values), expected, rtol=1e-13)
    assert programme.row_names[0] == "c[1]"


def test_parameters_and_fixed_variables_are_read_anew() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=1.0)
    model.held = pyo.Var(initialize=3.0)
    model.held.fix()
    model.p = pyo.Param(initialize=2.0, mutable=True)
    model.c = pyo.Constraint(expr=model.x * model.p + model.held <= model.p)
    programme = compile_nonlinear_model(model)
    assert programme.column_names == ("x",)
    bounds = programme.row_bounds()[1]
    assert programme.row_values(np.ones(1)) - bounds == pytest.approx([5.0 - 2.0])
    model.p.set_value(10.0)
    model.held.fix(1.0)
    assert programme.row_values(np.ones(1)) - programme.row_bounds()[1] == pytest.approx([11.0 - 10.0])
    model.held.set_value(None)
    with pytest.raises(BadInput, match="'held' is None"):
        programme.row_values(np.ones(1))


def test_deactivated_components_do_not_count() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var()
    model.c = pyo.Constraint(expr=abs(model.x) <= 1)
    model.o = pyo.Objective(expr=model.x)
    model.c.deactivate()
    model.o.deactivate()
    assert compile_nonlinear_model(model).rows == ()


def ordered_set(model: pyo.ConcreteModel) -> None:
    model.special = pyo.SOSConstraint(var=model.x, sos=2)


def disjunction(model: pyo.ConcreteModel) -> None:
    model.left, model.right = gdp.Disjunct(), gdp.Disjunct()
    model.left.c = pyo.Constraint(expr=model.x[0] <= 1)
    model.right.c = pyo.Constraint(expr=model.x[0] >= 2)
    model.choice = gdp.Disjunction(expr=[model.left, model.right])


def logic(model: pyo.ConcreteModel) -> None:
    model.yes = pyo.BooleanVar()
    model.rule = pyo.LogicalConstraint(expr=model.yes.implies(True))


def undiscretised(model: pyo.ConcreteModel) -> None:
    model.time = dae.ContinuousSet(bounds=(0, 1))
    model.level = pyo.Var(model.time)
    model.rate = dae.DerivativeVar(model.level, wrt=model.time)


def external(model: pyo.ConcreteModel) -> None:
    model.outside = pyo.ExternalFunction(function=lambda a: a)
    model.c = pyo.Constraint(expr=model.outside(model.x[0]) <= 1)


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (ordered_set, "SOSConstraint 'special'"),
        (disjunction, "Disjunct 'left'|Disjunction 'choice'"),
        (logic, "BooleanVar 'yes'|LogicalConstraint 'rule'"),
        (undiscretised, "ContinuousSet 'time'|DerivativeVar 'rate'"),
        (external, "constraint 'c': unsupported 'ExternalFunctionExpression'"),
        (lambda m: setattr(m, "o", pyo.Objective(expr=m.x[0])), "Objective 'o' cannot be planned with"),
        (
            lambda m: setattr(m, "c", pyo.Constraint(expr=abs(m.x[0]) <= 1)),
            "constraint 'c': unsupported 'abs'",
        ),
        (
            lambda m: setattr(m, "c", pyo.Constraint(expr=pyo.ceil(m.x[0]) <= 1)),
            "constraint 'c': unsupported 'ceil'",
        ),
        (
            lambda m: setattr(m, "c", pyo.Constraint(expr=pyo.Expr_if(m.x[0] >= 0, m.x[1], 0) <= 1)),
            "constraint 'c': unsupported 'Expr_ifExpression'",
        ),
        (lambda m: setattr(m, "n", pyo.Var(domain=pyo.Integers)), "variable 'n' has the domain Integers"),
    ],
    ids=["sos", "disjunction", "logic", "dae", "external", "objective", "abs", "ceil", "expr_if", "integer"],
)
def test_what_cannot_be_compiled_is_refused_by_name(add: Callable, message: str) -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1], initialize=0.5)
    add(model)
    with pytest.raises(BadInput, match=message):
        compile_nonlinear_model(model)


def test_a_variable_of_another_model_is_refused() -> None:
    model, other = pyo.ConcreteModel(), pyo.ConcreteModel()
    model.x, other.y = pyo.Var(), pyo.Var()
    model.c = pyo.Constraint(expr=model.x + other.y <= 1)
    with pytest.raises(BadInput, match="'y' is not part of the model"):
        compile_nonlinear_model(model)
