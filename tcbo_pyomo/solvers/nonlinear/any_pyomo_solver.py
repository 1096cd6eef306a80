"""Any nonlinear solver that Pyomo can name, with the objective as an explicit Pyomo expression.

Slower than the compiled route by orders of magnitude, because the formula is written out for each plan; the
way to use a solver of one's own (`ipopt` from conda or idaes-pse, with its HSL linear solvers, `pounce` from the pip package
pyomo-pounce, `knitro`, `conopt`, ...), or a solver object of one's own by the name it was handed over with.
"""

from __future__ import annotations

import importlib.util
import io
import logging
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.log import LoggingIntercept
from pyomo.common.modeling import unique_component_name

from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import section, timed
from tcbo_pyomo.solvers.bounds import Bounds, under_bounds
from tcbo_pyomo.solvers.handed_over import handed_over, is_contributed, run_contributed
from tcbo_pyomo.solvers.idaes_binaries import look_in_idaes
from tcbo_pyomo.solvers.nonlinear.path_objective import PathTerms, ScaledObjective
from tcbo_pyomo.solvers.nonlinear.programme import NonlinearProgramme
from tcbo_pyomo.solvers.nonlinear.solver import Answer, NonlinearSolver

PLUGINS = {"pounce": "pyomo_pounce"}
"""Solvers that are known to Pyomo only after their own module is imported."""

INSTALL = {
    "ipopt": "conda install -c conda-forge ipopt, or pip install 'tcbo_pyomo[idaes]' and idaes get-extensions; or "
    "interface 'casadi'",
    "pounce": "pip install 'tcbo_pyomo[pounce]'",
}

logger = logging.getLogger(__name__)


class PyomoNonlinear(NonlinearSolver):
    """A solver by its SolverFactory name; see `NonlinearSolver` for the other parameters.

    The options go to the solver as they are. `time_limit` is passed as Pyomo's `timelimit`; `max_iterations`
    as the option max_iter that IPOPT and its relatives share.
    """

    def __init__(
        self,
        solver: str,
        programme: NonlinearProgramme,
        terms: PathTerms,
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
        max_iterations: int | None = None,
    ) -> None:
        super().__init__(programme, terms, options, time_limit, max_iterations)
        self.name = f"{solver} (pyomo)"
        self._solver = _pyomo_solver(solver)
        if max_iterations is not None:
            self.options["max_iter"] = max_iterations
        if not programme.columns:
            raise BadInput("the model has no variables")
        self._model = programme.columns[0].model()

    def optimise(self, objective: ScaledObjective, x0: Array, bounds: Bounds) -> Answer:
        """Solve the model under these bounds; it is put back as it was afterwards."""
        programme = self.programme
        own = Bounds(*programme.column_bounds(), *programme.row_bounds())
        before = [column.value for column in programme.columns]
        try:
            with under_bounds(programme.columns, programme.rows, own, bounds), self._explicit(objective):
                # A column that no active row holds is not sent to the solver and keeps this value.
                start = np.clip(x0, bounds.column_lower, bounds.column_upper)
                self._set_values(start.tolist())
                for variable, value in zip(programme.defined, programme.defined_values(start).tolist(), strict=True):
                    variable.set_value(value, skip_validation=True)
                status = self._run()
            values = [math.nan if column.value is None else column.value for column in programme.columns]
        finally:
            self._set_values(before)
        return Answer(np.array(values, dtype=float), status)

    def _set_values(self, values: list[Any]) -> None:
        for column, value in zip(self.programme.columns, values, strict=True):
            column.set_value(value, skip_validation=True)

    @contextmanager
    def _explicit(self, objective: ScaledObjective) -> Iterator[None]:
        """The scaled objective in the model; its components are removed afterwards."""
        model = self._model
        before = set(model.component_map())
        per_step = len(self.terms.columns) // len(model.STEPS)
        steps = range(objective.given // per_step + 1, len(model.STEPS) + 1)
        try:
            with section("NLP build"):
                expression = objective.factor * objective.objective.expression(model, steps)
                name = unique_component_name(model, "plan_objective")
                model.add_component(name, pyo.Objective(expr=expression, sense=pyo.minimize))
            yield
        finally:
            for name in set(model.component_map()) - before:
                model.del_component(name)

    @timed("NLP solve")
    def _run(self) -> str:
        limit = {} if self.time_limit is None else {"timelimit": self.time_limit}
        try:
            if is_contributed(self._solver):
                return run_contributed(self._solver, self._model, self.options, self.time_limit)[0]
            results = self._solver.solve(self._model, load_solutions=False, options=self.options, **limit)
            if len(results.solution) or str(results.solver.status) == "ok":
                self._model.solutions.load_from(results, ignore_invalid_labels=False)
        except Exception as error:
            text = " ".join(str(error).split())
            raise SolverFailed(f"solver {self.name} failed: {type(error).__name__}: {text[:300]}") from error
        return str(results.solver.termination_condition)


def _pyomo_solver(name: str) -> Any:
    """The solver called `name`, probed on a tiny model: Pyomo's `available()` is not to be trusted."""
    own = handed_over(name)
    if own is not None:
        if not _solves(own, name):
            raise BadInput(
                f"nonlinear solver '{name}': the solver object does not solve a small test model"
            )
        return own
    install = INSTALL.get(name, "install it, pass it with hand_over_solver, or use interface 'casadi'")
    plugin = PLUGINS.get(name)
    if plugin and importlib.util.find_spec(plugin) is None:
        raise BadInput(f"nonlinear solver '{name}' is not installed: {install}")
    if plugin:
        importlib.import_module(plugin)
    for _ in range(2):
        # Pyomo logs a warning with a traceback for a missing solver; one line of our own says it better.
        with LoggingIntercept(io.StringIO(), "pyomo"):
            solver = pyo.SolverFactory(name)
        if _solves(solver, name):
            return solver
        if not look_in_idaes(name):
            break
    raise BadInput(f"nonlinear solver '{name}' is not installed or does not run: {install}")


def _solves(solver: Any, name: str) -> bool:
    """Whether a solver finds the minimum of a small model."""
    probe = pyo.ConcreteModel()
    probe.x = pyo.Var(bounds=(0, 3), initialize=1.0)
    probe.objective = pyo.Objective(expr=(probe.x - 2.0) ** 2 + pyo.exp(-probe.x))
    try:
        with LoggingIntercept(io.StringIO(), "pyomo"):
            if is_contributed(solver):
                return run_contributed(solver, probe, {}, None)[1]
            results = solver.solve(probe, load_solutions=False)
        return str(results.solver.termination_condition) in ("optimal", "locallyOptimal")
    except Exception as error:
        logger.debug("probe of %s: %s", name, error)
        return False
