"""Conflicts are named: minimal, without the flow rows where the user's own rows are to blame."""

from __future__ import annotations

import time

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from linear_models import arriving, corridor, coupled_grid
from scipy.optimize import linprog

from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.solvers.infeasibility import conflicting_constraints
from tcbo_pyomo.solvers.linear.highs import Highs
from tcbo_pyomo.solvers.linear.programme import compile_linear_model


def compiled(model: pyo.ConcreteModel):
    return compile_linear_model(model, list(model.visitation.values()))


def conflicts_of(model):
    programme = compiled(model)
    return conflicting_constraints(programme, programme.bounds())


def test_two_rules_that_contradict_each_other():
    model = corridor(states=6, steps=6)
    model.end_at = pyo.Constraint(expr=arriving(model, 5, 5) == 1)
    model.visit_budget = pyo.Constraint(expr=sum(arriving(model, h, 3) for h in range(6)) <= 0.5)
    model.harmless = pyo.Constraint(expr=sum(arriving(model, h, 2) for h in range(6)) <= 5)
    assert conflicts_of(model) == ["end_at", "visit_budget"]


def test_one_rule_that_the_plant_cannot_meet():
    model = corridor(states=6, steps=4)
    model.end_at = pyo.Constraint(expr=arriving(model, 3, 5) == 1)
    model.harmless = pyo.Constraint(expr=arriving(model, 2, 2) <= 1)
    assert conflicts_of(model) == ["end_at"]


def test_flow_rows_are_named_when_nothing_else_is_to_blame():
    model = corridor(states=3, steps=2)
    model.harmless = pyo.Constraint(expr=arriving(model, 1, 2) <= 1)
    programme = compiled(model)
    closed = programme.column_upper.copy()
    closed[[list(model.visitation).index(move) for move in ((1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 2))]] = 0.0
    names = conflicting_constraints(programme, programme.bounds(column_upper=closed))
    assert names == ["flow[0,0]", "flow[1,0]", "flow[1,1]"]


def test_an_integer_rule():
    model = corridor(states=4, steps=4)
    model.switch = pyo.Var(domain=pyo.Binary)
    model.half = pyo.Constraint(expr=2 * model.switch == 1)
    model.harmless = pyo.Constraint(expr=arriving(model, 2, 2) <= model.switch)
    assert conflicts_of(model) == ["half"]


def test_crossed_bounds_and_a_feasible_model():
    model = corridor(states=4, steps=4)
    model.rule = pyo.Constraint(expr=arriving(model, 2, 2) <= 0.5)
    programme = compiled(model)
    assert conflicting_constraints(programme, programme.bounds()) == []
    lower = programme.row_lower.copy()
    lower[-1] = 0.75
    assert conflicting_constraints(programme, programme.bounds(row_lower=lower)) == ["rule"]


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_the_named_set_is_infeasible_and_minimal(seed):
    rng = np.random.default_rng(seed)
    model = pyo.ConcreteModel()
    model.visitation = pyo.Var(range(3), bounds=(-5, 5))
    matrix = rng.integers(-3, 4, (8, 3)).astype(float)
    matrix[:, 0] = np.where((matrix == 0).all(axis=1), 1.0, matrix[:, 0])
    limits = rng.integers(-6, 4, 8).astype(float)
    model.rule = pyo.Constraint(
        range(8), rule=lambda m, i: sum(matrix[i, j] * m.visitation[j] for j in range(3)) <= limits[i]
    )

    def feasible(rows: list[int]) -> bool:
        return linprog(np.zeros(3), A_ub=matrix[rows], b_ub=limits[rows], bounds=(-5, 5)).status == 0 if rows else True

    assume(not feasible(list(range(8))))
    programme = compiled(model)
    names = conflicting_constraints(programme, programme.bounds())
    rows = [programme.row_names.index(name) for name in names]
    assert not feasible(rows)
    assert all(feasible([row for row in rows if row != left_out]) for left_out in rows)


def test_five_thousand_columns_take_seconds():
    model = coupled_grid(size=10, steps=11)
    model.end_at = pyo.Constraint(expr=sum(list(model.visitation.values())[-4:]) == 1)
    model.never = pyo.Constraint(expr=sum(list(model.visitation.values())[-60:]) <= 0.2)
    programme = compiled(model)
    assert len(programme.columns) > 5000
    with pytest.raises(InfeasiblePlan):
        Highs(programme).solve(np.zeros(len(programme.columns)))
    started = time.process_time()
    names = conflicting_constraints(programme, programme.bounds())
    assert time.process_time() - started < 20
    assert 0 < len(names) < 4 and "end_at" in names
