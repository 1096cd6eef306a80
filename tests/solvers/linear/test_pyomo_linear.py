"""Solvers through Pyomo: right answers, and refusals of wrong, hung and missing ones."""

from __future__ import annotations

import math
import os
import tempfile
from typing import ClassVar

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from linear_models import arriving, corridor, model_of, random_programmes
from pyomo.common import Executable
from pyomo.core.expr.symbol_map import SymbolMap
from pyomo.opt import SolverResults
from pyomo.opt.results.solution import Solution

from tcbo_pyomo.errors import BadInput, InfeasiblePlan, SolverFailed
from tcbo_pyomo.solvers.linear.any_pyomo_solver import PyomoLinearSolver
from tcbo_pyomo.solvers.linear.highs import Highs
from tcbo_pyomo.solvers.linear.programme import compile_linear_model
from tcbo_pyomo.solvers.linear.solver_by_name import linear_solver


@pytest.fixture
def programme():
    model = corridor(states=4, steps=4)
    model.idle = pyo.Var(bounds=(2, 3))
    model.budget = pyo.Constraint(expr=arriving(model, 2, 3) + arriving(model, 3, 3) <= 1.5)
    return compile_linear_model(model, [*model.visitation.values(), model.idle])


class FakeSolver:
    """Calls whatever it is told to an optimum."""

    answer: ClassVar[dict] = {}
    status = pyo.SolverStatus.ok
    condition = pyo.TerminationCondition.optimal
    received: ClassVar[list] = []

    def __init__(self, **_):
        self.options = {}

    def available(self, exception_flag=True):
        return True

    def solve(self, model, load_solutions=True, **_):
        results, solution, symbols = SolverResults(), Solution(), SymbolMap()
        results.solver.status, results.solver.termination_condition = self.status, self.condition
        symbols.default_labeler = pyo.NumericLabeler("x")
        self.received.append(model)
        for index, variable in enumerate([*model.visitation.values(), model.idle]):
            if index in self.answer:
                solution.variable[symbols.getSymbol(variable)] = {"Value": self.answer[index]}
        results.solution.insert(solution)
        results._smap, results._smap_id = symbols, id(symbols)
        return results


@pytest.fixture
def fake(monkeypatch):
    class Registered(FakeSolver):
        pass

    monkeypatch.setitem(pyo.SolverFactory._cls, "fake_solver", Registered)
    monkeypatch.setitem(pyo.SolverFactory._doc, "fake_solver", "a fake")
    return Registered


@settings(max_examples=15)
@given(random_programmes())
def test_the_same_optimum_as_compiled_highs(arrays):
    cost, *rest = arrays
    model = model_of(*rest)
    programme = compile_linear_model(model, list(model.x.values()))
    expected = Highs(programme).solve(cost).objective
    solver = linear_solver("appsi_highs", programme)
    scale = np.abs(cost).max()
    for _ in range(2):
        assert solver.solve(cost).objective == pytest.approx(expected, rel=1e-6, abs=1e-6 * scale)
    model.x.domain = pyo.Integers
    programme = compile_linear_model(model, list(model.x.values()))
    assert programme.integrality.all()
    expected = Highs(programme).solve(cost).objective
    whole = linear_solver("appsi_highs", programme).solve(cost).objective
    assert whole == pytest.approx(expected, rel=1e-4, abs=1e-4 * scale)


def test_bounds_are_changed_and_changed_back(programme):
    solver = PyomoLinearSolver("appsi_highs", programme)
    reference = Highs(programme)
    rng = np.random.default_rng(1)
    closed = np.where(rng.random(len(programme.columns)) < 0.2, 0.3, np.inf)
    closed[-1] = 3.0
    looser = programme.row_upper.copy()
    looser[-1] = np.inf
    tighter = programme.row_upper.copy()
    tighter[-1] = 0.25
    for changes in ({}, {"column_upper": closed}, {"row_upper": looser}, {"row_upper": tighter}, {}):
        cost = -rng.random(len(programme.columns))
        expected = reference.solve(cost, **changes).objective
        assert solver.solve(cost, **changes).objective == pytest.approx(expected, rel=1e-7)


def test_columns_that_occur_nowhere_stay_within_their_bounds(programme):
    solution = linear_solver("appsi_highs", programme).solve(np.zeros(len(programme.columns)))
    assert 2 <= solution.values[-1] <= 3
    assert solution.row_dual is None and solution.solver == "appsi_highs"


def test_infeasible_and_unbounded(programme):
    solver = linear_solver("appsi_highs", programme, time_limit=5)
    cost = -np.ones(len(programme.columns))
    minus = np.full(len(programme.rows), -1.0)
    with pytest.raises(InfeasiblePlan):
        solver.solve(cost, row_lower=minus, row_upper=minus)
    free = programme.column_upper.copy()
    free[-1] = np.inf
    with pytest.raises(SolverFailed, match="no lower bound"):
        solver.solve(cost, column_upper=free)


@pytest.mark.parametrize("name", ["appsi_highs", "highs"])
def test_misspelt_and_wrong_options_of_highs_are_refused(programme, name):
    for options, message in (({"presolv": "on"}, "presolve"), ({"threads": "many"}, "threads")):
        with pytest.raises(BadInput, match=message):
            PyomoLinearSolver(name, programme, options)
    accepted = PyomoLinearSolver(name, programme, {"presolve": "off"})
    assert accepted.solve(np.zeros(len(programme.columns))).objective == 0


def test_options_reach_the_solver(programme):
    cost = -np.random.default_rng(2).random(len(programme.columns))
    with pytest.raises(SolverFailed):
        PyomoLinearSolver("appsi_highs", programme, {"simplex_iteration_limit": 0, "presolve": "off"}).solve(cost)


@pytest.mark.parametrize("change", [{0: math.nan}, {0: -0.5}, {0: 7.0}, {0: math.inf}, "empty"])
def test_a_wrong_answer_called_optimal_is_refused(programme, fake, change):
    cost = -np.ones(len(programme.columns))
    good = dict(enumerate(Highs(programme).solve(cost).values.tolist()))
    fake.answer = good
    assert linear_solver("fake_solver", programme).solve(cost).objective == Highs(programme).solve(cost).objective
    fake.answer = {} if change == "empty" else good | change
    with pytest.raises(SolverFailed, match="fake_solver"):
        linear_solver("fake_solver", programme).solve(cost)


def test_old_values_are_not_taken_for_new_ones(programme, fake):
    cost = -np.ones(len(programme.columns))
    solver = linear_solver("fake_solver", programme)
    fake.answer = dict(enumerate(Highs(programme).solve(cost).values.tolist()))
    solver.solve(cost)
    fake.answer = {}
    with pytest.raises(SolverFailed, match="nan"):
        solver.solve(cost)


@pytest.mark.parametrize(
    ("status", "condition", "message"),
    [
        (pyo.SolverStatus.error, pyo.TerminationCondition.optimal, "error, optimal"),
        (pyo.SolverStatus.ok, pyo.TerminationCondition.unknown, "unknown"),
        (pyo.SolverStatus.ok, pyo.TerminationCondition.feasible, "feasible"),
        (pyo.SolverStatus.aborted, pyo.TerminationCondition.maxTimeLimit, "time limit of 3 s"),
        (pyo.SolverStatus.warning, pyo.TerminationCondition.maxIterations, "maxIterations"),
    ],
)
def test_values_are_used_only_with_a_clear_status(programme, fake, status, condition, message):
    cost = -np.ones(len(programme.columns))
    fake.answer = dict(enumerate(Highs(programme).solve(cost).values.tolist()))
    fake.status, fake.condition = status, condition
    with pytest.raises(SolverFailed, match=message):
        linear_solver("fake_solver", programme, time_limit=3).solve(cost)


def test_whatever_a_solver_raises_becomes_one_line(programme, fake, monkeypatch):
    def crash(*_, **__):
        raise RuntimeError("licence\nexpired")

    monkeypatch.setattr(fake, "solve", crash)
    with pytest.raises(SolverFailed, match=r"fake_solver failed: licence expired; .*tcbo solvers"):
        linear_solver("fake_solver", programme).solve(np.zeros(len(programme.columns)))


@pytest.fixture
def search_path(monkeypatch):
    """Sets PATH and makes Pyomo look for glpsol again, before and after the test."""

    def change(path: str) -> None:
        monkeypatch.setenv("PATH", path)
        Executable("glpsol").rehash()

    yield change
    monkeypatch.undo()
    Executable("glpsol").rehash()


def test_a_missing_executable_says_what_to_install(programme, search_path, tmp_path):
    search_path(str(tmp_path))
    with pytest.raises(BadInput, match="'glpk' is not installed; to get it: apt install glpk-utils"):
        linear_solver("glpk", programme)


@pytest.mark.skipif(os.name != "posix", reason="the fake executable is a shell script")
def test_a_hung_executable_is_ended_and_leaves_no_files(programme, monkeypatch, search_path, tmp_path):
    script = tmp_path / "glpsol"
    script.write_text('#!/bin/sh\n[ "$1" = "--version" ] && echo "GLPK LP/MIP Solver, v4.65" || exec sleep 60\n')
    script.chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    search_path(f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    solver = linear_solver("glpk", programme, time_limit=0.2)
    with pytest.raises(SolverFailed, match=r"glpk did not answer.*time limit 0.2 s"):
        solver.solve(np.zeros(len(programme.columns)))
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("name", ["hihgs", "glpkk", "no_such_solver", "bash"])
def test_an_unknown_name_lists_the_known_ones(programme, name):
    with pytest.raises(BadInput, match=f"unknown linear solver '{name}'") as caught:
        linear_solver(name, programme)
    for known in ("highs", "dynamic_programming", "appsi_highs", "tcbo solvers"):
        assert known in str(caught.value)


def test_highs_by_name_is_the_compiled_one(programme):
    solver = linear_solver("highs", programme, {"random_seed": 1}, time_limit=5)
    assert isinstance(solver, Highs) and solver.time_limit == 5
