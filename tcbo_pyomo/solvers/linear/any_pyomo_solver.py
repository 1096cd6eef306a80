"""Any linear solver that Pyomo's SolverFactory knows, on the same model that was compiled.

A solve sets the costs and bounds of the user's own components, so that logs and LP files speak of `visitation[...]` and
`flow[...]`. Slower than `Highs`, for those who have another solver or want to compare.
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
from pyomo.common.modeling import unique_component_name
from pyomo.common.tempfiles import TempfileManager
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.environ import Objective, SolverFactory, SolverStatus, TerminationCondition, minimize

from tcbo_pyomo.errors import BadInput, SolverFailed, suggestion
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.solvers.bounds import Bounds, under_bounds
from tcbo_pyomo.solvers.catalogue import LINEAR_SOLVERS, how_to_get
from tcbo_pyomo.solvers.handed_over import handed_over, is_contributed, run_contributed
from tcbo_pyomo.solvers.linear.highs_options import check_highs_options
from tcbo_pyomo.solvers.linear.programme import LinearProgramme
from tcbo_pyomo.solvers.linear.solver import Answer, LinearSolver, Verdict

VERDICTS = {
    TerminationCondition.optimal: Verdict.OPTIMAL,
    TerminationCondition.globallyOptimal: Verdict.OPTIMAL,
    TerminationCondition.infeasible: Verdict.INFEASIBLE,
    TerminationCondition.unbounded: Verdict.UNBOUNDED,
    TerminationCondition.infeasibleOrUnbounded: Verdict.INFEASIBLE_OR_UNBOUNDED,
    TerminationCondition.maxTimeLimit: Verdict.TIME_LIMIT,
}
CONTRIBUTED = {
    "optimal": Verdict.OPTIMAL,
    "provenInfeasible": Verdict.INFEASIBLE,
    "unbounded": Verdict.UNBOUNDED,
    "infeasibleOrUnbounded": Verdict.INFEASIBLE_OR_UNBOUNDED,
    "maxTimeLimit": Verdict.TIME_LIMIT,
}
"""The same for the words of `pyomo.contrib.solver`."""


class PyomoLinearSolver(LinearSolver):
    """A solver by its SolverFactory name; see `LinearSolver` for the other parameters.

    Time limits are rounded up to whole seconds (glpk takes no fractions). Costs go into the model's objective; they are
    those of `solve` times a power of two.
    """

    def __init__(
        self,
        name: str,
        programme: LinearProgramme,
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
    ) -> None:
        super().__init__(programme, options, time_limit)
        self.name = name
        if "highs" in name:
            check_highs_options(self.options)
        create_solver(name)
        self._objective = _only_objective(programme)
        fixed = np.fromiter((column.fixed for column in programme.columns), bool, len(programme.columns))
        self._free = np.flatnonzero(~fixed)

    def version(self) -> str:
        """What the solver says of itself."""
        try:
            return ".".join(str(part) for part in create_solver(self.name).version())
        except Exception:
            return super().version()

    @timed("LP solve")
    def optimise(self, cost: Array, bounds: Bounds) -> Answer:
        """Solve through Pyomo; values are read only where solver and status agree on an optimum."""
        programme = self.programme
        with under_bounds(programme.columns, programme.rows, programme.bounds(), bounds):
            self._set_cost(cost)
            for index in self._free:
                # An old value must not be taken for a new one.
                programme.columns[index].set_value(None, skip_validation=True)
            answer = self._run()
        if answer.verdict is not Verdict.OPTIMAL:
            return answer
        # A column that occurs nowhere never reaches the solver, and a fixed one is none of its affair: any value within
        # the bounds is as good.
        values = np.clip(np.zeros(len(cost)), bounds.column_lower, bounds.column_upper)
        occurs = (np.diff(programme.matrix.indptr) > 0) | (cost != 0.0)
        for index in self._free:
            read = programme.columns[index].value
            if read is not None or occurs[index]:
                values[index] = math.nan if read is None else read
        return Answer(answer.verdict, answer.status, answer.seconds, values=values)

    def _run(self) -> Answer:
        """Solve the model as it is and load the values of an optimum into it."""
        solver, model = create_solver(self.name), self.programme.model
        limit = {} if self.time_limit is None else {"timelimit": math.ceil(self.time_limit)}
        started = time.perf_counter()
        log = io.StringIO()
        try:
            # The manager removes, and complains about, the files that a failing solver leaves behind.
            with LoggingIntercept(io.StringIO(), "pyomo"), TempfileManager, LoggingIntercept(log, "pyomo"):
                if is_contributed(solver):
                    status, _ = run_contributed(solver, model, self.options, self.time_limit)
                    return Answer(CONTRIBUTED.get(status, Verdict.FAILED), status, time.perf_counter() - started)
                solver.options.update(self.options)
                results = solver.solve(model, load_solutions=False, **limit)
                seconds = time.perf_counter() - started
                condition = results.solver.termination_condition
                verdict = VERDICTS.get(condition, Verdict.FAILED)
                if verdict is Verdict.OPTIMAL and results.solver.status != SolverStatus.ok:
                    verdict = Verdict.FAILED
                if verdict is Verdict.OPTIMAL:
                    # cbc writes down only what is not zero, and says so by its default value.
                    default = getattr(solver, "default_variable_value", lambda: None)()
                    model.solutions.load_from(results, default_variable_value=default)
                return Answer(verdict, f"{results.solver.status}, {condition}", seconds)
        except TimeoutExpired as error:
            raise SolverFailed(
                f"{self.name} did not answer and was stopped after {error.timeout:g} s (time limit {self.time_limit} s); "
                "check its installation or allow more time"
            ) from error
        except Exception as error:
            reason = " ".join(f"{error} {log.getvalue()}".split())
            raise SolverFailed(f"{self.name} failed: {reason[:500]}; `tcbo solvers` lists what works") from error

    def _set_cost(self, cost: Array) -> None:
        used = np.flatnonzero(cost).tolist()
        variables = [self.programme.columns[index] for index in used]
        self._objective.set_value(LinearExpression(constant=0, linear_coefs=cost[used].tolist(), linear_vars=variables))


def create_solver(name: str) -> Any:
    """A SolverFactory solver or one that was handed over, or an error that says what to install."""
    own = handed_over(name)
    if own is not None:
        return own
    if not known_to_pyomo(name):
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


def known_to_pyomo(name: str) -> bool:
    """Whether SolverFactory has the name, or the part before a colon ('asl:my_solver'), or an object was handed over."""
    return handed_over(name) is not None or name.split(":")[0] in set(SolverFactory)


def _only_objective(programme: LinearProgramme) -> Any:
    """The objective of the model, to be minimised; a model without one is given `cost`."""
    found = list(programme.model.component_data_objects(Objective, active=True, descend_into=True))
    if len(found) > 1:
        names = ", ".join(objective.name for objective in found)
        raise BadInput(f"the model has {len(found)} active objectives ({names}); deactivate all but one")
    if not found:
        found.append(Objective(expr=0.0))
        programme.model.add_component(unique_component_name(programme.model, "cost"), found[0])
    found[0].set_sense(minimize)
    return found[0]
