"""Answers of a solver are checked by our own arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.solvers.linear.programme import compile_linear_model
from tcbo_pyomo.solvers.linear.solution import check_solution


@pytest.fixture
def programme():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), bounds=(0, 10))
    model.count = pyo.Var(domain=pyo.Integers, bounds=(0, 5))
    model.total = pyo.Constraint(expr=model.x[0] + model.x[1] == 1)
    model.cap = pyo.Constraint(expr=1e6 * model.x[0] + model.count <= 1e6)
    return compile_linear_model(model, [*model.x.values(), model.count])


def checked(programme, *values):
    return check_solution(programme, programme.bounds(), np.array(values, dtype=float), "fake")


def test_good_values_pass_and_small_errors_are_put_right(programme):
    np.testing.assert_array_equal(checked(programme, 0.25, 0.75, 2), [0.25, 0.75, 2])
    np.testing.assert_array_equal(checked(programme, -1e-9, 1.0, 2 + 1e-9), [0.0, 1.0, 2.0])


def test_the_tolerance_of_a_row_grows_with_its_terms(programme):
    # 1e-8 too much of 1e6 x[0] is 0.01 in the row, and 1e-8 of its terms.
    checked(programme, 1.0 + 1e-8, 0.0, 0)


@pytest.mark.parametrize(
    ("values", "culprit"),
    [
        ((math.nan, 1, 0), r"x\[0\].*nan"),
        ((math.inf, 1, 0), r"x\[0\].*inf"),
        ((-0.1, 1.1, 0), r"x\[0\].*violated by 0.1"),
        ((0.0, 11.0, 0), r"x\[1\].*violated by 1"),
        ((0.5, 0.6, 0), "total.*violated by 0.1"),
        ((0.5, 0.5 - 1e-6, 0), "total.*violated by 1e-06"),
        ((1.0, 0.0, 3), "cap.*violated by 3"),
        ((0.5, 0.5, 0.5), "count.*violated by 0.5"),
        ((0.5, 0.5, 6), "count.*violated by 1"),
        ((0.5, 0.5), "2 values for 3 columns"),
    ],
)
def test_bad_values_are_refused_with_the_name(programme, values, culprit):
    with pytest.raises(SolverFailed, match=culprit):
        checked(programme, *values)
