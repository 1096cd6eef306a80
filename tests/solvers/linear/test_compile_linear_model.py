"""Compiled arrays against the model they come from, and what is refused by name."""

from __future__ import annotations

import gc
import math

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from linear_models import model_of, random_programmes
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.gdp import Disjunction
from pyomo.mpec import Complementarity, complements

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.solvers.linear.programme import compile_linear_model


@pytest.fixture
def model() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), bounds=(0, 1))
    model.y = pyo.Var()
    return model


@settings(max_examples=30, deadline=None)
@given(random_programmes())
def test_arrays_are_those_of_the_model(programme):
    _, matrix, row_lower, row_upper, lower, upper = programme
    model = model_of(matrix, row_lower, row_upper, lower, upper)
    compiled = compile_linear_model(model, list(model.x.values()))
    np.testing.assert_array_equal(compiled.matrix.toarray(), matrix)
    np.testing.assert_array_equal(compiled.row_lower, row_lower)
    np.testing.assert_array_equal(compiled.row_upper, row_upper)
    np.testing.assert_array_equal(compiled.column_lower, lower)
    np.testing.assert_array_equal(compiled.column_upper, upper)
    assert not compiled.integrality.any()


def test_given_columns_come_first_and_extra_variables_follow(model):
    model.reserve = pyo.Var(domain=pyo.NonNegativeReals)
    model.switch = pyo.Var(domain=pyo.Binary)
    model.use = pyo.Constraint(expr=model.reserve + 2 * model.x[2] + model.switch <= 4)
    compiled = compile_linear_model(model, [model.x[2], model.x[1], model.x[0]])
    assert compiled.column_names == ("x[2]", "x[1]", "x[0]", "reserve", "switch")
    np.testing.assert_array_equal(compiled.matrix.toarray(), [[2, 0, 0, 1, 1]])
    np.testing.assert_array_equal(compiled.integrality, [False, False, False, False, True])
    np.testing.assert_array_equal(compiled.column_upper, [1, 1, 1, math.inf, 1])


def test_two_sided_constraints_are_one_row_and_equalities_stay(model):
    model.band = pyo.Constraint(expr=pyo.inequality(1, model.x[0] + model.y + 2, 5))
    model.same = pyo.Constraint(expr=model.x[1] == model.y - 3)
    model.floor = pyo.Constraint(expr=model.y >= -4)
    compiled = compile_linear_model(model, list(model.x.values()))
    assert compiled.row_names == ("band", "same", "floor")
    np.testing.assert_array_equal(compiled.row_lower, [-1, -3, -4])
    np.testing.assert_array_equal(compiled.row_upper, [3, -3, math.inf])


def test_row_names_are_pyomo_names(model):
    model.flow = pyo.Constraint([(3, "residence_time=4, ratio=0.3")], rule=lambda m, h, x: m.x[0] <= 1)
    compiled = compile_linear_model(model, list(model.x.values()))
    assert compiled.row_names == tuple(data.name for data in model.flow.values())


def test_names_survive_when_nobody_else_keeps_the_model():
    def compiled():
        model = pyo.ConcreteModel()
        model.x = pyo.Var(range(2))
        model.row = pyo.Constraint(range(2), rule=lambda m, i: m.x[i] <= 1)
        return compile_linear_model(model, list(model.x.values()))

    programme = compiled()
    gc.collect()
    assert programme.row_names == ("row[0]", "row[1]") and programme.column_names == ("x[0]", "x[1]")


def test_fixed_variables_are_constants(model):
    model.x[0].fix(0.5)
    model.y.fix(2.0)
    model.total = pyo.Constraint(expr=2 * model.x[0] + model.x[1] + 3 * model.y <= 10)
    compiled = compile_linear_model(model, list(model.x.values()))
    np.testing.assert_array_equal(compiled.matrix.toarray(), [[0, 1, 0]])
    np.testing.assert_array_equal(compiled.row_upper, [3])
    np.testing.assert_array_equal([compiled.column_lower[0], compiled.column_upper[0]], [0.5, 0.5])
    assert compiled.column_names == ("x[0]", "x[1]", "x[2]")


def test_repeated_terms_are_added_up_and_inactive_ones_left_out(model):
    model.total = pyo.Constraint(expr=model.x[0] + 2 * model.x[1] + 3 * model.x[0] <= 1)
    model.off = pyo.Constraint(expr=model.x[0] ** 2 <= 1)
    model.off.deactivate()
    compiled = compile_linear_model(model, list(model.x.values()))
    np.testing.assert_array_equal(compiled.matrix.toarray(), [[4, 2, 0]])
    assert compiled.matrix.nnz == 2


def test_objectives_are_ignored_and_left_as_they_were(model):
    model.total = pyo.Constraint(expr=model.x[0] <= 1)
    model.wanted = pyo.Objective(expr=model.x[0] ** 2)
    model.unwanted = pyo.Objective(expr=model.x[1])
    model.unwanted.deactivate()
    compile_linear_model(model, list(model.x.values()))
    assert model.wanted.active and not model.unwanted.active


def test_a_model_without_constraints_has_no_rows(model):
    compiled = compile_linear_model(model, list(model.x.values()))
    assert compiled.matrix.shape == (0, 3)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("as_parameter", [True, False])
def test_a_coefficient_that_is_not_finite_is_named(model, number, as_parameter):
    model.p = pyo.Param(mutable=True, initialize=number, within=pyo.Any)
    coefficient = model.p if as_parameter else number
    model.good = pyo.Constraint(expr=model.x[1] <= 1)
    model.cooling = pyo.Constraint(expr=coefficient * model.x[0] + model.x[1] <= 1)
    with pytest.raises(BadInput, match=r"cooling.*x\[0\].*finite"):
        compile_linear_model(model, list(model.x.values()))


def test_a_coefficient_inside_a_linear_expression_is_checked(model):
    body = LinearExpression(constant=0, linear_coefs=[1.0, math.nan], linear_vars=[model.x[0], model.x[1]])
    model.cooling = pyo.Constraint(expr=body == 1)
    with pytest.raises(BadInput, match=r"cooling.*x\[1\].*nan"):
        compile_linear_model(model, list(model.x.values()))


@pytest.mark.parametrize(
    "relation",
    [
        lambda m: m.x[0] + m.x[1] <= math.nan,
        lambda m: m.x[0] + math.nan <= 1,
        lambda m: m.x[0] + m.x[1] == math.inf,
        lambda m: m.x[0] <= -math.inf,
        lambda m: m.empty * m.x[0] <= 1,
        lambda m: m.unset + m.x[0] <= 1,
        lambda m: pyo.inequality(m.y, m.x[0], 1),
        lambda m: m.zero * m.y + math.nan <= 1,
    ],
)
def test_other_numbers_that_cannot_be_used_are_named(model, relation):
    model.empty = pyo.Param(mutable=True, within=pyo.Reals)
    model.zero = pyo.Param(mutable=True, initialize=0.0, within=pyo.Reals)
    model.unset = pyo.Var()
    model.unset.fix()
    model.limit = pyo.Constraint(expr=relation(model))
    with pytest.raises(BadInput, match="limit"):
        compile_linear_model(model, list(model.x.values()))


@pytest.mark.parametrize("body", [lambda m: m.x[0] * m.x[1], lambda m: pyo.exp(m.y), lambda m: abs(m.y)])
def test_a_nonlinear_constraint_is_named(model, body):
    model.plant = pyo.Block()
    model.plant.curve = pyo.Constraint(expr=body(model) <= 1)
    with pytest.raises(BadInput, match=r"plant\.curve.*linear"):
        compile_linear_model(model, list(model.x.values()))


def _sos(model):
    model.extra = pyo.SOSConstraint(var=model.x, sos=1)


def _disjunction(model):
    model.extra = Disjunction(expr=[model.x[0] <= 0, model.x[0] >= 1])


def _logical(model):
    model.flag = pyo.BooleanVar()
    model.extra = pyo.LogicalConstraint(expr=model.flag)


def _complementarity(model):
    model.extra = Complementarity(expr=complements(model.x[0] >= 0, model.x[1] >= 0))


@pytest.mark.parametrize("add", [_sos, _disjunction, _logical, _complementarity])
def test_other_components_are_refused_by_name_unless_inactive(model, add):
    add(model)
    with pytest.raises(BadInput, match=r"extra.*linear components"):
        compile_linear_model(model, list(model.x.values()))
    model.extra.deactivate()
    for component in model.component_objects(active=True):
        if component.local_name.startswith("extra"):
            component.deactivate()
    compile_linear_model(model, list(model.x.values()))


def test_a_constant_constraint_that_cannot_hold_is_proof(model):
    model.y.fix(3.0)
    model.cap = pyo.Constraint(expr=model.y <= 1)
    with pytest.raises(InfeasiblePlan, match=r"cap.*3.*1"):
        compile_linear_model(model, list(model.x.values()))


def test_discrete_domains_other_than_integers_are_refused(model):
    model.halves = pyo.Var(domain=pyo.Set(initialize=[0, 0.5, 1]))
    model.total = pyo.Constraint(expr=model.halves + model.x[0] <= 1)
    with pytest.raises(BadInput, match="halves"):
        compile_linear_model(model, list(model.x.values()))


def test_a_column_without_value_or_given_twice_is_refused(model):
    with pytest.raises(BadInput, match="twice"):
        compile_linear_model(model, [model.x[0], model.x[0]])
    model.x[1].fix()
    with pytest.raises(BadInput, match=r"x\[1\].*fixed without a value"):
        compile_linear_model(model, list(model.x.values()))


def test_a_bound_that_is_not_a_number_is_refused(model):
    model.p = pyo.Param(mutable=True, initialize=math.nan, within=pyo.Any)
    model.x[1].setub(model.p)
    with pytest.raises(BadInput, match=r"x\[1\]"):
        compile_linear_model(model, list(model.x.values()))


def test_bounds_for_a_solve_are_checked(model):
    model.total = pyo.Constraint(expr=model.x[0] <= 1)
    compiled = compile_linear_model(model, list(model.x.values()))
    with pytest.raises(BadInput, match="shape"):
        compiled.bounds(column_lower=[0.0])
    with pytest.raises(BadInput, match=r"column_upper of 'x\[1\]' is nan"):
        compiled.bounds(column_upper=[1.0, math.nan, 1.0])
    with pytest.raises(BadInput, match="row_lower of 'total' is inf"):
        compiled.bounds(row_lower=[math.inf])


def test_a_hundred_thousand_columns_compile_in_seconds():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(100_000), domain=pyo.NonNegativeReals)
    columns = list(model.x.values())

    def row(model: pyo.ConcreteModel, i: int):
        terms = columns[100 * i : 100 * (i + 1)]
        return LinearExpression(constant=0, linear_coefs=[1.0] * 100, linear_vars=terms) == 1

    model.row = pyo.Constraint(range(1000), rule=row)
    compiled = compile_linear_model(model, columns)
    assert compiled.matrix.shape == (1000, 100_000)
    assert compiled.matrix.nnz == 100_000
