"""Arithmetic as data: what Pyomo says an expression comes to is what the nested lists come to."""

import json

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.cost_data import StoredCost, cost_data
from tcbo_pyomo.models.expression_data import NotData, evaluated, expression_data

NUMBERS = st.floats(-3.0, 3.0)


def model_with(values):
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), initialize=dict(enumerate(values)))
    model.p = pyo.Param(initialize=1.7, mutable=True)
    model.named = pyo.Expression(expr=model.x[0] * model.x[1] - 2.0)
    return model


def grown(model):
    """Expressions of any shape over three variables."""
    leaves = st.one_of(
        NUMBERS, st.sampled_from([*model.x.values(), model.p, model.named, model.p * 2]), st.just(model.x[2] + 1)
    )
    one = [abs, pyo.sin, pyo.cos, pyo.tanh, pyo.atan, lambda e: -e, lambda e: e**2, lambda e: pyo.exp(0.1 * e)]
    two = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (b**2 + 1.5)]
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda f, e: f(e), st.sampled_from(one), inner),
            st.builds(lambda f, a, b: f(a, b), st.sampled_from(two), inner, inner),
        ),
        max_leaves=12,
    )


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS), st.data())
def test_nested_lists_come_to_what_pyomo_says(values, data):
    model = model_with(values)
    expression = data.draw(grown(model))
    leaves = {id(variable): ["x", index] for index, variable in model.x.items()}
    tree = json.loads(json.dumps(expression_data(expression, leaves)))
    wanted = pyo.value(expression)
    assert evaluated(tree, lambda _, index: values[index]) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    # Many points at once, as costs are asked for.
    many = evaluated(tree, lambda _, index: np.full(4, values[index]))
    assert np.allclose(many, wanted, rtol=1e-9, atol=1e-9)


def test_what_is_no_arithmetic_is_not_kept():
    model = model_with((1.0, 2.0, 3.0))
    model.own = pyo.Var()
    leaves = {id(variable): ["x", index] for index, variable in model.x.items()}
    for expression in (model.x[0] + model.own, pyo.Expr_if(model.x[0] >= 1, model.x[1], 2.0)):
        with pytest.raises(NotData):
            expression_data(expression, leaves)


def test_costs_are_kept_as_arithmetic_only_where_they_are():
    axes = [Coordinate("x", 0.0, 10.0), Coordinate("y", -1.0, 1.0)]

    def plain(left, right):
        return 0.2 + abs(right["x"] - left["x"]) + (right["y"] - left["y"]) ** 2

    tree = cost_data(plain, axes)
    left, right = {"x": np.array([1.0, 2.0]), "y": np.array([0.0, 0.5])}, {"x": np.array([4.0, 0.0]), "y": np.zeros(2)}
    assert np.allclose(StoredCost(tree)(left, right), plain(left, right))
    assert cost_data(lambda left, right: np.maximum(0.0, right["x"] - left["x"]), axes) is None
    assert cost_data(lambda left, right: np.where(right["x"] > 3.0, 1.0, 0.0), axes) is None

    def two_faced(left, right):
        return 1.0 if isinstance(left["x"], np.ndarray) else 2.0

    assert cost_data(two_faced, axes) is None
