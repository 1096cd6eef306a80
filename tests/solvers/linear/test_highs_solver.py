"""HiGHS on compiled arrays against scipy, against itself in another order, and with bad input."""

from __future__ import annotations

import math

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from linear_models import arriving, corridor, coupled_grid, model_of, random_programmes
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from tcbo_pyomo.errors import BadInput, InfeasiblePlan, SolverFailed
from tcbo_pyomo.solvers.linear.highs import Highs
from tcbo_pyomo.solvers.linear.programme import compile_linear_model


def compiled(matrix, row_lower, row_upper, lower, upper, integral=()):
    model = model_of(matrix, row_lower, row_upper, lower, upper, integral)
    return compile_linear_model(model, list(model.x.values()))


def optimum_by_linprog(cost, matrix, row_lower, row_upper, lower, upper) -> float:
    above, below = np.isfinite(row_upper), np.isfinite(row_lower)
    rows = np.vstack([matrix[above], -matrix[below]])
    limits = np.concatenate([row_upper[above], -row_lower[below]])
    scale = max(np.abs(cost).max(), 1e-300)
    answer = linprog(cost / scale, A_ub=rows, b_ub=limits, bounds=np.column_stack([lower, upper]))
    assert answer.status == 0
    return float(answer.fun * scale)


@settings(max_examples=60)
@given(random_programmes())
def test_optimum_and_duals_against_scipy(programme):
    cost, matrix, row_lower, row_upper, lower, upper = programme
    solution = Highs(compiled(*programme[1:])).solve(cost)
    scale = np.abs(cost).max()
    assert solution.objective == pytest.approx(optimum_by_linprog(*programme), rel=1e-9, abs=1e-9 * scale)
    # Strong duality: each dual value pays for the bound on its side.
    dual, reduced = solution.row_dual, cost - matrix.T @ solution.row_dual
    rows = sum(max(y, 0) * b for y, b in zip(dual, row_lower, strict=True) if y > 1e-9 * scale)
    rows += sum(min(y, 0) * b for y, b in zip(dual, row_upper, strict=True) if y < -1e-9 * scale)
    value = rows + np.where(reduced > 0, reduced * lower, reduced * upper).sum()
    assert value == pytest.approx(solution.objective, rel=1e-7, abs=1e-7 * scale)


@settings(max_examples=40)
@given(random_programmes())
def test_integral_optimum_against_scipy(programme):
    cost, matrix, row_lower, row_upper, lower, upper = programme
    relaxed = compiled(*programme[1:])
    integral = np.ones(len(cost), dtype=bool)
    integral[1::2] = False
    rows = LinearConstraint(matrix, row_lower, row_upper)
    scale = max(np.abs(cost).max(), 1e-300)
    truth = milp(
        cost / scale, integrality=integral, bounds=Bounds(lower, upper), constraints=rows, options={"mip_rel_gap": 0}
    )
    assert truth.status == 0
    solution = Highs(relaxed.with_whole_numbers(integral)).solve(cost)
    assert solution.objective == pytest.approx(truth.fun * scale, rel=1e-9, abs=1e-9 * scale)
    np.testing.assert_array_equal(solution.values[integral], np.round(solution.values[integral]))
    assert solution.row_dual is None
    assert Highs(relaxed).solve(cost).objective <= solution.objective + 1e-9 * scale


def test_a_hand_solved_corridor():
    model = corridor(states=3, steps=2)
    programme = compile_linear_model(model, list(model.visitation.values()))
    reward = {1: 1.0, 2: 5.0}
    cost = np.array([-reward.get(arrived, 0.0) for _, _, arrived in model.visitation])
    solution = Highs(programme).solve(cost)
    assert solution.objective == -6.0  # up, up: 1 + 5
    visits = dict(zip(model.visitation, solution.values, strict=True))
    assert {move for move, visit in visits.items() if visit > 0} == {(0, 0, 1), (1, 1, 2)}
    assert solution.solver == "highs" and solution.status == "Optimal" and solution.seconds > 0


def test_changed_bounds_count_for_one_solve_only():
    model = corridor(states=3, steps=2)
    programme = compile_linear_model(model, list(model.visitation.values()))
    cost = np.array([-float(arrived) for _, _, arrived in model.visitation])
    solver = Highs(programme)
    closed = programme.column_upper.copy()
    closed[list(model.visitation).index((0, 0, 1))] = 0.0
    start_at_one = np.array([float((step, state) == (0, 1)) for step, state in model.flow])
    assert solver.solve(cost).objective == -3.0
    assert solver.solve(cost, column_upper=closed).objective == -1.0
    assert solver.solve(cost, row_lower=start_at_one, row_upper=start_at_one).objective == -4.0
    assert solver.solve(cost).objective == -3.0


def test_the_users_own_variables_and_a_binary():
    model = corridor(states=4, steps=4)
    model.pump = pyo.Var(domain=pyo.Binary)
    model.reserve = pyo.Var(bounds=(0, 2))
    # State 3 may be visited only with the pump on; pump and reserve share a budget.
    model.needs_pump = pyo.Constraint(expr=arriving(model, 3, 3) <= model.pump)
    model.share = pyo.Constraint(expr=0.5 * model.pump + model.reserve <= 1.5)
    programme = compile_linear_model(model, list(model.visitation.values()))
    assert programme.column_names[-2:] == ("pump", "reserve")
    cost = np.array([-float(h == 3 and y == 3) for h, _, y in model.visitation] + [0.0, -1.0])
    solution = Highs(programme).solve(cost)
    # On: 1 + reserve 1; off: 0 + reserve 1.5.
    assert solution.objective == -2.0
    assert solution.values[-2:].tolist() == [1.0, 1.0]
    cost[-1] = -3.0
    assert Highs(programme).solve(cost).values[-2:].tolist() == [0.0, 1.5]


def _coupled_programme():
    model = corridor(states=8, steps=12)
    model.budget = pyo.Constraint(expr=sum(0.1 * (1 + h) * arriving(model, h, 2) for h in range(12)) <= 0.77)
    model.spread = pyo.Constraint(expr=sum(arriving(model, h, 5) / 3 for h in range(12)) >= 0.31)
    model.mixed = pyo.Constraint(expr=sum((0.7 - 0.1 * h) * arriving(model, h, 3) for h in range(12)) <= 0.45)
    return compile_linear_model(model, list(model.visitation.values()))


def test_answers_do_not_depend_on_what_was_solved_before():
    # On this model `clearSolver` between two solves is not enough: some last digits differ.
    model = coupled_grid()
    programme = compile_linear_model(model, list(model.visitation.values()))
    rng = np.random.default_rng(3)
    jobs = []
    for number in range(24):
        cost = -rng.random(len(programme.columns)).round(1 if number % 2 else 12)
        upper = np.where(rng.random(len(cost)) < 0.05, 0.9, np.inf) if number % 3 == 0 else None
        jobs.append((cost, upper))

    def answer(solver: Highs, job) -> tuple:
        solution = solver.solve(job[0], column_upper=job[1])
        arrays = (solution.values, solution.row_dual)
        return (solution.objective, solution.iterations, *(array.tobytes() for array in arrays))

    fresh = [answer(Highs(programme), job) for job in jobs]
    kept = Highs(programme)
    impossible = np.full_like(programme.row_lower, -1.0)
    for order in (reversed(range(24)), rng.permutation(24)):
        for number in order:
            assert answer(kept, jobs[number]) == fresh[number]
            if number % 7 == 0:
                last = np.arange(len(programme.columns)) > len(programme.columns) - 50
                Highs(programme.with_whole_numbers(last)).solve(jobs[0][0])
            if number % 5 == 0:
                with pytest.raises(InfeasiblePlan):
                    kept.solve(jobs[0][0], row_lower=impossible, row_upper=impossible)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_the_size_of_the_costs_does_not_matter(scale):
    programme = _coupled_programme()
    cost = -np.random.default_rng(5).random(len(programme.columns))
    expected = Highs(programme).solve(cost).objective
    assert Highs(programme).solve(cost * scale).objective == pytest.approx(expected * scale, rel=1e-9)


def test_zero_costs_and_no_rows_are_fine():
    programme = _coupled_programme()
    assert Highs(programme).solve(np.zeros(len(programme.columns))).objective == 0.0
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), bounds=(-1, 2))
    assert Highs(compile_linear_model(model, list(model.x.values()))).solve([1.0, -1.0]).objective == -3.0


def test_tiny_probabilities_are_kept():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), domain=pyo.NonNegativeReals)
    model.one = pyo.Constraint(expr=model.x[0] == 1)
    model.rare = pyo.Constraint(expr=model.x[1] == 1e-11 * model.x[0])
    solution = Highs(compile_linear_model(model, list(model.x.values()))).solve([0.0, 1.0])
    assert solution.values[1] == pytest.approx(1e-11, rel=1e-6)


def test_infeasible_and_unbounded_are_told_apart():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2))
    model.total = pyo.Constraint(expr=model.x[0] + model.x[1] >= 1)
    programme = compile_linear_model(model, list(model.x.values()))
    solver = Highs(programme, {"allow_unbounded_or_infeasible": True})
    with pytest.raises(SolverFailed, match="no lower bound"):
        solver.solve([-1.0, 0.0])
    with pytest.raises(InfeasiblePlan):
        solver.solve([-1.0, 0.0], column_upper=[0.0, 0.5])
    with pytest.raises(InfeasiblePlan, match=r"x\[1\].*lower bound 2 is above its upper bound 1"):
        solver.solve([-1.0, 0.0], column_lower=[0.0, 2.0], column_upper=[1.0, 1.0])


def test_time_limits():
    programme = _coupled_programme()
    cost = -np.random.default_rng(6).random(len(programme.columns))
    for solver in (Highs(programme, time_limit=1e-9), Highs(programme, {"time_limit": 1e-9})):
        with pytest.raises(SolverFailed, match="time limit of 1e-09 s"):
            solver.solve(cost)
    # HiGHS adds up the time of all runs; the limit must hold for each of them, not for their sum.
    limit = max(0.4, 30 * Highs(programme).solve(cost).seconds)  # A busy machine takes longer for each.
    solver, spent = Highs(programme, time_limit=limit), 0.0
    while spent < 1.25 * limit:
        spent += solver.solve(cost).seconds


@pytest.mark.parametrize("limit", [0, -1.0, math.nan, math.inf, "5", True])
def test_a_time_limit_that_makes_no_sense_is_refused(limit):
    with pytest.raises(BadInput, match="time_limit"):
        Highs(_coupled_programme(), time_limit=limit)


def test_another_number_of_threads_is_no_error():
    programme = _coupled_programme()
    cost = -np.ones(len(programme.columns))
    solvers = [Highs(programme, options) for options in ({"threads": 2}, {"threads": 1}, {})]
    assert len({solver.solve(cost).objective for solver in solvers * 2}) == 1


def test_bad_costs_and_masks_are_refused_by_name():
    model = corridor(states=3, steps=2)
    programme = compile_linear_model(model, list(model.visitation.values()))
    solver = Highs(programme)
    cost = np.zeros(len(programme.columns))
    with pytest.raises(BadInput, match="shape"):
        solver.solve(cost[:-1])
    for number in (math.nan, math.inf):
        cost[2] = number
        with pytest.raises(BadInput, match=r"visitation\[0,1,1\].*finite"):
            solver.solve(cost)
    with pytest.raises(BadInput, match="bool per column"):
        programme.with_whole_numbers(np.ones(len(cost)))


def test_coefficients_beyond_highs_are_named():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), bounds=(0, 1))
    model.huge = pyo.Constraint(expr=1e16 * model.x[0] + model.x[1] <= 1)
    with pytest.raises(BadInput, match=r"huge.*1e\+16"):
        Highs(compile_linear_model(model, list(model.x.values())))


def test_a_status_that_is_no_optimum_is_a_failure():
    solver = Highs(_coupled_programme(), {"simplex_iteration_limit": 1, "presolve": "off"})
    with pytest.raises(SolverFailed, match="Iteration limit"):
        solver.solve(-np.random.default_rng(7).random(len(solver.programme.columns)))
