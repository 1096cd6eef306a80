"""Small linear models for the tests of the linear solvers."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from hypothesis import strategies as st


def model_of(matrix, row_lower, row_upper, lower, upper, integral=()) -> pyo.ConcreteModel:
    """A Pyomo model `row_lower <= matrix x <= row_upper` with variables x and constraints row."""
    model = pyo.ConcreteModel()
    columns = range(matrix.shape[1])
    model.x = pyo.Var(columns, bounds=lambda _, j: (lower[j], upper[j]))
    for column in integral:
        model.x[column].domain = pyo.Integers
    model.row = pyo.Constraint(
        range(matrix.shape[0]),
        rule=lambda m, i: (row_lower[i], sum(matrix[i, j] * m.x[j] for j in columns) + 0.0 * m.x[0], row_upper[i]),
    )
    return model


@st.composite
def random_programmes(draw):
    """Costs and arrays of a feasible and bounded programme with coefficients in quarters."""
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = rng.integers(-8, 9, (m, n)) / 4 * (rng.random((m, n)) < 0.7)
    matrix[:, 0] = np.where((matrix == 0).all(axis=1), 1.0, matrix[:, 0])
    lower = -rng.integers(0, 4, n).astype(float)
    upper = lower + rng.integers(1, 6, n)
    point = rng.integers(lower, upper + 1).astype(float)
    activity = matrix @ point
    row_lower = np.where(rng.random(m) < 0.6, activity - rng.integers(0, 4, m), -np.inf)
    row_upper = np.where(rng.random(m) < 0.7, activity + rng.integers(0, 4, m), np.inf)
    free = np.isinf(row_lower) & np.isinf(row_upper)
    row_upper[free] = activity[free]
    cost = rng.integers(-6, 7, n) * 10.0 ** draw(st.integers(-9, 6))
    return cost, matrix, row_lower, row_upper, lower, upper


def corridor(states: int = 6, steps: int = 6) -> pyo.ConcreteModel:
    """Visits on a line of states: stay or go one up, starting at state 0; component names as in the polytope."""
    model = pyo.ConcreteModel()
    model.MOVES = pyo.Set(
        initialize=[(h, x, y) for h in range(steps) for x in range(states) for y in (x, x + 1) if y < states]
    )
    model.visitation = pyo.Var(model.MOVES, domain=pyo.NonNegativeReals)

    def flow(model: pyo.ConcreteModel, step: int, state: int):
        leaving = sum(model.visitation[step, state, y] for y in (state, state + 1) if y < states)
        if step == 0:
            return leaving == float(state == 0)
        return leaving == sum(model.visitation[step - 1, x, state] for x in (state - 1, state) if x >= 0)

    model.flow = pyo.Constraint(range(steps), range(states), rule=flow)
    return model


def arriving(model: pyo.ConcreteModel, step: int, state: int):
    """Expected arrivals at a state by the move of a step."""
    return sum(variable for (h, _, y), variable in model.visitation.items() if (h, y) == (step, state))


def coupled_grid(size: int = 6, steps: int = 7) -> pyo.ConcreteModel:
    """Visits on a grid (one coordinate never falls) with three rows that couple the steps; 1,232 moves by default."""
    states = [(i, j) for i in range(size) for j in range(size)]
    near = [(x, y) for x in states for y in states if y[0] - x[0] in (0, 1) and abs(y[1] - x[1]) <= 1]
    moves = [(step, x, y) for step in range(steps) for x, y in near]
    model = pyo.ConcreteModel()
    model.visitation = pyo.Var(range(len(moves)), domain=pyo.NonNegativeReals)
    leaving: dict = {}
    arriving_at: dict = {}
    for move, (step, x, y) in enumerate(moves):
        leaving.setdefault((step, x), []).append(model.visitation[move])
        arriving_at.setdefault((step + 1, y), []).append(model.visitation[move])

    def flow(model: pyo.ConcreteModel, step: int, state: int):
        before = sum(arriving_at[step, states[state]]) if step else float(state == 0)
        return sum(leaving[step, states[state]]) == before

    def column(number: int):
        return [(model.visitation[move], step + 0.1) for move, (step, _, y) in enumerate(moves) if y[0] == number]

    model.flow = pyo.Constraint(range(steps), range(len(states)), rule=flow)
    model.few = pyo.Constraint(expr=sum(visits for visits, _ in column(1)) <= 0.5)
    model.budget = pyo.Constraint(expr=sum(weight * visits for visits, weight in column(3)) <= 3.3)
    model.floor = pyo.Constraint(expr=sum(weight * visits for visits, weight in column(2)) >= 1.3)
    return model
