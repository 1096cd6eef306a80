"""IPOPT through cyipopt, for those who have their own IPOPT or linear solver; an extra package.

The same compiled constraints and the same closed-form objective as in `ipopt_casadi`, handed over as
callbacks.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import casadi
import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.solvers.interrupts import NotedInterrupt
from tcbo_pyomo.solvers.linear.programme import Bounds
from tcbo_pyomo.solvers.nonlinear.ipopt_options import STATUSES, ipopt_options
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective
from tcbo_pyomo.solvers.nonlinear.path_terms import PathTerms, ScaledObjective
from tcbo_pyomo.solvers.nonlinear.programme import NonlinearProgramme
from tcbo_pyomo.solvers.nonlinear.solution import NonlinearSolution, checked_solution

STATUS_NAMES = {
    0: "Solve_Succeeded",
    1: "Solved_To_Acceptable_Level",
    2: "Infeasible_Problem_Detected",
    3: "Search_Direction_Becomes_Too_Small",
    4: "Diverging_Iterates",
    5: "User_Requested_Stop",
    6: "Feasible_Point_Found",
    -1: "Maximum_Iterations_Exceeded",
    -2: "Restoration_Failed",
    -3: "Error_In_Step_Computation",
    -4: "Maximum_CpuTime_Exceeded",
    -5: "Maximum_WallTime_Exceeded",
    -10: "Not_Enough_Degrees_Of_Freedom",
    -13: "Invalid_Number_Detected",
}
"""IPOPT's ApplicationReturnStatus, by number."""


class IpoptCyipopt:
    """A programme that IPOPT re-solves through cyipopt; parameters as in `IpoptCasadi`."""

    def __init__(
        self,
        programme: NonlinearProgramme,
        terms: PathTerms,
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
        max_iterations: int | None = None,
    ) -> None:
        try:
            import cyipopt
        except ImportError as error:
            raise BadInput(
                "interface 'cyipopt' needs the package cyipopt: pip install cyipopt (it needs an IPOPT "
                "library; conda "
                f"install -c conda-forge cyipopt brings one), or use interface 'casadi' ({error})"
            ) from error
        self.name = "ipopt (cyipopt)"
        self.programme, self.terms, self._cyipopt = programme, terms, cyipopt
        self._options = ipopt_options(options, time_limit, max_iterations)

    def solve(
        self,
        objective: PathObjective,
        x0: Array,
        column_lower: Array,
        column_upper: Array,
        row_lower: Array,
        row_upper: Array,
    ) -> NonlinearSolution:
        """Minimise the objective over the points that are not given, from x0."""
        bounds = Bounds(column_lower, column_upper, row_lower, row_upper)
        given = self.terms.given(column_lower, column_upper)
        began = time.perf_counter()
        with one_blas_thread(), NotedInterrupt() as interrupt:
            start = ScaledObjective.at_start(self.terms, objective, given, x0)
            callbacks = _Callbacks(self.programme, start, interrupt)
            problem = self._cyipopt.Problem(len(x0), len(row_lower), callbacks, *bounds)
            for name, value in self._options.items():
                self._set(problem, name, value)
            with section("NLP solve"):
                values, information = problem.solve(x0)
            problem.close()
        if callbacks.error is not None:
            raise callbacks.error
        status = STATUS_NAMES.get(int(information["status"]), f"IPOPT status {information['status']}")
        return checked_solution(
            self.programme,
            self.terms,
            objective,
            bounds,
            np.asarray(values, dtype=float),
            STATUSES.get(status, status),
            time.perf_counter() - began,
            callbacks.iterations,
            self.name,
        )

    @staticmethod
    def _set(problem: Any, name: str, value: Any) -> None:
        try:
            problem.add_option(name, value)
        except TypeError as error:
            raise BadInput(f"nonlinear option '{name}': IPOPT refuses {value!r} ({error})") from None


class _Callbacks:
    """What cyipopt asks for; errors are stored and end the solve, because they cannot pass through IPOPT."""

    def __init__(self, programme: NonlinearProgramme, objective: ScaledObjective, interrupt: NotedInterrupt) -> None:
        self._programme, self._objective, self._interrupt = programme, objective, interrupt
        self._parameters = programme.parameter_values()
        self.error: BaseException | None = None
        self.iterations = 0
        rows, columns = objective.terms.hessian_pattern
        own_rows, own_columns = _triplets(programme.hess)
        # Entries that occur twice are added up by IPOPT; the lower triangle is wanted.
        self._hessian_structure = np.concatenate([columns, own_columns]), np.concatenate([rows, own_rows])

    def objective(self, x: Array) -> float:
        return float(self._guarded(lambda: self._objective.value(x), np.nan))

    def gradient(self, x: Array) -> Array:
        return self._guarded(lambda: self._objective.gradient(x), np.full(len(x), np.nan))

    def constraints(self, x: Array) -> Array:
        return np.array(self._programme.g(x, self._parameters)).ravel()

    def jacobianstructure(self) -> tuple[Integers, Integers]:
        return _triplets(self._programme.jac)

    def jacobian(self, x: Array) -> Array:
        return np.array(self._programme.jac(x, self._parameters).nonzeros())

    def hessianstructure(self) -> tuple[Integers, Integers]:
        return self._hessian_structure

    def hessian(self, x: Array, multipliers: Array, factor: float) -> Array:
        own = np.array(self._programme.hess(x, self._parameters, multipliers).nonzeros())
        entries = len(self._hessian_structure[0]) - len(own)
        return np.concatenate(
            [self._guarded(lambda: factor * self._objective.hessian(x), np.full(entries, np.nan)), own]
        )

    def intermediate(self, mode: int, iteration: int, *_: Any) -> bool:
        self.iterations = int(iteration)
        return self.error is None and not self._interrupt.requested

    def _guarded(self, function: Any, otherwise: Any) -> Any:
        if self.error is None and not self._interrupt.requested:
            try:
                with section("NLP objective"):
                    return function()
            except BaseException as error:
                self.error = error
        return otherwise


def _triplets(function: casadi.Function) -> tuple[Integers, Integers]:
    """Rows and columns of a CasADi function's sparse result, in the order of its non-zeros."""
    rows, columns = function.sparsity_out(0).get_triplet()
    return np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
