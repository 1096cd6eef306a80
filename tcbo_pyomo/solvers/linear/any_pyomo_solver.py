"""Any linear solver that Pyomo's SolverFactory knows, on the compiled arrays.

The arrays become a plain Pyomo model once; a solve changes its objective and bounds. Slower than `HighsSolver`, for
those who have another solver or want to compare.
"""

from __future__ import annotations

import io
import math
import time
from collections.abc import Mapping
from subprocess import TimeoutExpired
from typing import Any

import numpy as np
from pyomo.common.log import LoggingIntercept
from pyomo.common.tempfiles import TempfileManager
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.environ import (
    ConcreteModel,
    Constraint,
    Integers,
    Objective,
    SolverFactory,
    SolverStatus,
    TerminationCondition,
    Var,
)

from tcbo_pyomo.errors import BadInput, SolverFailed, suggestion
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.solvers.catalogue import LINEAR_SOLVERS, how_to_get
from tcbo_pyomo.solvers.linear.highs_options import check_highs_options
from tcbo_pyomo.solvers.linear.programme import Bounds, LinearProgramme
from tcbo_pyomo.solvers.linear.solver import Answer, LinearSolver, Verdict

VERDICTS = {
    TerminationCondition.optimal: Verdict.OPTIMAL,
    TerminationCondition.globallyOptimal: Verdict.OPTIMAL,
    TerminationCondition.infeasible: Verdict.INFEASIBLE,
    TerminationCondition.unbounded: Verdict.UNBOUNDED,
    TerminationCondition.infeasibleOrUnbounded: Verdict.INFEASIBLE_OR_UNBOUNDED,
    TerminationCondition.maxTimeLimit: Verdict.TIME_LIMIT,
}


class PyomoLinearSolver(LinearSolver):
    """A solver by its SolverFactory name; see `LinearSolver` for the other parameters.

    Time limits are rounded up to whole seconds (glpk takes no fractions). With `hot_start` one solver object is kept;
    what it remembers from solve to solve is its own affair.
    """

    def __init__(
        self,
        name: str,
        programme: LinearProgramme,
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
        hot_start: bool = False,
    ) -> None:
        super().__init__(programme, options, time_limit, hot_start)
        self.name = name
        if "highs" in name:
            check_highs_options(self.options)
        self._solver = create_solver(name)
        self._bounds = programme.bounds()
        self.model = _as_pyomo_model(programme)

    def for_programme(self, programme: LinearProgramme) -> PyomoLinearSolver:
        """The same solver and options for another programme."""
        return PyomoLinearSolver(self.name, programme, self.options, self.time_limit, self.hot_start)

    @timed("LP solve")
    def optimise(self, cost: Array, bounds: Bounds) -> Answer:
        """Solve through Pyomo; values are read only where solver and status agree on an optimum."""
        self._change(cost, bounds)
        solver = self._solver if self.hot_start else create_solver(self.name)
        limit = {} if self.time_limit is None else {"timelimit": math.ceil(self.time_limit)}
        started = time.perf_counter()
        log = io.StringIO()
        try:
            # The manager removes, and complains about, the files that a failing solver leaves behind.
            with LoggingIntercept(io.StringIO(), "pyomo"), TempfileManager, LoggingIntercept(log, "pyomo"):
                solver.options.update(self.options)
                results = solver.solve(self.model, load_solutions=False, **limit)
                seconds = time.perf_counter() - started
                condition = results.solver.termination_condition
                verdict = VERDICTS.get(condition, Verdict.FAILED)
                if verdict is Verdict.OPTIMAL and results.solver.status != SolverStatus.ok:
                    verdict = Verdict.FAILED
                status = f"{results.solver.status}, {condition}"
                if verdict is not Verdict.OPTIMAL:
                    return Answer(verdict, status, seconds)
                # cbc writes down only what is not zero, and says so by its default value.
                default = getattr(solver, "default_variable_value", lambda: None)()
                self.model.solutions.load_from(results, default_variable_value=default)
        except TimeoutExpired as error:
            raise SolverFailed(
                f"{self.name} hung and was ended after {error.timeout:g} s (time limit {self.time_limit} s); "
                "check its installation or allow more time"
            ) from error
        except Exception as error:
            reason = " ".join(f"{error} {log.getvalue()}".split())
            raise SolverFailed(f"{self.name} failed: {reason[:500]}; `tcbo solvers` shows what works") from error
        # A column that occurs nowhere never reaches the solver: any value within its bounds is as good.
        occurs = (np.diff(self.programme.matrix.indptr) > 0) | (cost != 0.0)
        idle = np.where(occurs, np.nan, np.clip(0.0, bounds.column_lower, bounds.column_upper))
        read = (column.value for column in self.model.column.values())
        values = [rest if value is None else value for value, rest in zip(read, idle, strict=True)]
        return Answer(verdict, status, seconds, values=np.array(values, dtype=float))

    def _change(self, cost: Array, bounds: Bounds) -> None:
        last, columns, rows = self._bounds, self.model.column, self.model.row
        for index in np.flatnonzero(bounds.column_lower != last.column_lower).tolist():
            columns[index].setlb(_finite(bounds.column_lower[index]))
        for index in np.flatnonzero(bounds.column_upper != last.column_upper).tolist():
            columns[index].setub(_finite(bounds.column_upper[index]))
        moved = (bounds.row_lower != last.row_lower) | (bounds.row_upper != last.row_upper)
        for index in np.flatnonzero(moved).tolist():
            row = rows[self.programme.row_names[index]]
            _bound_row(row, bounds.row_lower[index], bounds.row_upper[index])
        for column in columns.values():
            column.set_value(None, skip_validation=True)
        used = np.flatnonzero(cost).tolist()
        terms = LinearExpression(
            constant=0, linear_coefs=cost[used].tolist(), linear_vars=[columns[index] for index in used]
        )
        self.model.objective.set_value(terms)
        self._bounds = Bounds(*(array.copy() for array in bounds))


def create_solver(name: str) -> Any:
    """A SolverFactory solver, or an error that says what to install."""
    if name.split(":")[0] not in set(SolverFactory):
        raise BadInput(
            f"unknown linear solver '{name}'; {suggestion(name, LINEAR_SOLVERS)}; `tcbo solvers` shows which work here "
            "(other linear solvers of Pyomo's SolverFactory may be named too)"
        )
    try:
        with LoggingIntercept(io.StringIO(), "pyomo"):
            solver = SolverFactory(name)
            found = solver.available(exception_flag=False)
    except Exception as error:
        raise BadInput(f"solver '{name}' cannot be started: {error}; to get it: {how_to_get(name)}") from error
    if not found:
        raise BadInput(f"solver '{name}' is not installed; to get it: {how_to_get(name)}")
    return solver


def _as_pyomo_model(programme: LinearProgramme) -> ConcreteModel:
    """Variables `column[0..]`, constraints `row[name]`."""
    model = ConcreteModel()
    model.column = Var(range(len(programme.columns)))
    for column, lower, upper, whole in zip(
        model.column.values(), programme.column_lower, programme.column_upper, programme.integrality, strict=True
    ):
        column.setlb(_finite(lower))
        column.setub(_finite(upper))
        if whole:
            column.domain = Integers
    by_row = programme.matrix.tocsr()
    variables = list(model.column.values())

    model.row = Constraint(programme.row_names)
    for index, name in enumerate(programme.row_names):
        entries = slice(by_row.indptr[index], by_row.indptr[index + 1])
        body = LinearExpression(
            constant=0,
            linear_coefs=by_row.data[entries].tolist(),
            linear_vars=[variables[position] for position in by_row.indices[entries]],
        )
        model.row[name] = body == 0.0
        _bound_row(model.row[name], programme.row_lower[index], programme.row_upper[index])
    model.objective = Objective(expr=0.0)
    return model


def _bound_row(row: Any, lower: float, upper: float) -> None:
    """Give a row new bounds; one without bounds is deactivated, for Pyomo takes no such constraint."""
    if lower == upper:
        row.set_value(row.body == float(lower))
    elif math.isfinite(lower) or math.isfinite(upper):
        row.set_value((_finite(lower), row.body, _finite(upper)))
    else:
        row.deactivate()
        return
    row.activate()


def _finite(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None
