"""Any nonlinear solver that Pyomo can name, with the objective as an explicit Pyomo expression.

Slower than the compiled route by orders of magnitude, because the formula is written out for each plan; the
way to use a solver of one's own (`ipopt` from conda or idaes-pse, `pounce` from the pip package pyomo-pounce,
`knitro`, `conopt`, ...).
"""

from __future__ import annotations

import importlib.util
import io
import logging
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.log import LoggingIntercept

from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import section, timed
from tcbo_pyomo.models.components import add_component
from tcbo_pyomo.solvers.linear.programme import Bounds
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective
from tcbo_pyomo.solvers.nonlinear.path_terms import PathTerms
from tcbo_pyomo.solvers.nonlinear.programme import NonlinearProgramme
from tcbo_pyomo.solvers.nonlinear.solution import NonlinearSolution, checked_solution

PLUGINS = {"pounce": "pyomo_pounce"}
"""Solvers that are known to Pyomo only after their own module is imported."""

INSTALL = {
    "ipopt": "conda install -c conda-forge ipopt, or pip install idaes-pse and idaes get-extensions; or "
    "interface 'casadi'",
    "pounce": "pip install pyomo-pounce",
}

logger = logging.getLogger(__name__)


class PyomoNonlinear:
    """A programme that a SolverFactory solver re-solves; parameters as in `IpoptCasadi`, and its name.

    The options go to the solver as they are. `time_limit` is passed as Pyomo's `timelimit`; `max_iterations`
    as the option max_iter that IPOPT and its relatives share.
    """

    def __init__(
        self,
        programme: NonlinearProgramme,
        terms: PathTerms,
        solver: str,
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
        max_iterations: int | None = None,
    ) -> None:
        self.programme, self.terms, self.name = programme, terms, f"{solver} (pyomo)"
        self._solver = _pyomo_solver(solver)
        self._options = dict(options or {})
        if max_iterations is not None:
            self._options["max_iter"] = max_iterations
        self._limit = {} if time_limit is None else {"timelimit": time_limit}
        if not programme.columns:
            raise BadInput("the model has no variables")
        self._model = programme.columns[0].model()

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
        with _changed(self.programme, x0, bounds), self._explicit(objective, given, x0):
            status, values = self._run()
        return checked_solution(
            self.programme,
            self.terms,
            objective,
            bounds,
            values,
            status,
            time.perf_counter() - began,
            0,
            self.name,
        )

    @contextmanager
    def _explicit(self, objective: PathObjective, given: int, x0: Array) -> Iterator[None]:
        """The objective in the model, scaled to one at the start; its components are removed afterwards."""
        model = self._model
        before = set(model.component_map())
        size = abs(objective.value(self.terms.points(x0, given)))
        scale = 1.0 / size if math.isfinite(size) and size > 0 else 1.0
        steps = range(given + 1, len(self.terms.columns) + 1)
        try:
            with section("NLP build"):
                expression = scale * objective.expression(model, steps)
                add_component(model, "plan_objective", pyo.Objective(expr=expression, sense=pyo.minimize))
            yield
        finally:
            for name in set(model.component_map()) - before:
                model.del_component(name)

    @timed("NLP solve")
    def _run(self) -> tuple[str, Array]:
        try:
            results = self._solver.solve(self._model, load_solutions=False, options=self._options, **self._limit)
            status = str(results.solver.termination_condition)
            if len(results.solution) or str(results.solver.status) == "ok":
                self._model.solutions.load_from(results, ignore_invalid_labels=False)
        except Exception as error:
            text = " ".join(str(error).split())
            raise SolverFailed(f"solver {self.name} failed: {type(error).__name__}: {text[:300]}") from error
        values = [column.value for column in self.programme.columns]
        return status, np.array([math.nan if value is None else value for value in values], dtype=float)


@contextmanager
def _changed(programme: NonlinearProgramme, x0: Array, bounds: Bounds) -> Iterator[None]:
    """The model with other bounds and start values; put back as it was afterwards."""
    saved = [(column.lb, column.ub, column.value) for column in programme.columns]
    own_lower, own_upper = programme.row_bounds()
    other = np.flatnonzero((own_lower != bounds.row_lower) | (own_upper != bounds.row_upper)).tolist()
    model = programme.columns[0].model()
    replaced = add_component(model, "changed_rows", pyo.ConstraintList())
    try:
        for i, column in enumerate(programme.columns):
            column.setlb(bounds.column_lower[i] if np.isfinite(bounds.column_lower[i]) else None)
            column.setub(bounds.column_upper[i] if np.isfinite(bounds.column_upper[i]) else None)
            # A column that no active row holds is not sent to the solver and keeps this value.
            held = min(max(float(x0[i]), bounds.column_lower[i]), bounds.column_upper[i])
            column.set_value(held, skip_validation=True)
        for i in other:
            programme.rows[i].deactivate()
            limits = [float(b) if np.isfinite(b) else None for b in (bounds.row_lower[i], bounds.row_upper[i])]
            if limits != [None, None]:
                replaced.add((limits[0], programme.rows[i].body, limits[1]))
        yield
    finally:
        model.del_component(replaced)
        for i in other:
            programme.rows[i].activate()
        for column, (lower, upper, value) in zip(programme.columns, saved, strict=True):
            column.setlb(lower)
            column.setub(upper)
            column.set_value(value, skip_validation=True)


def _pyomo_solver(name: str) -> Any:
    """The solver called `name`, probed on a tiny model: Pyomo's `available()` is not to be trusted."""
    install = INSTALL.get(name, "install it, or use interface 'casadi'")
    plugin = PLUGINS.get(name)
    if plugin and importlib.util.find_spec(plugin) is None:
        raise BadInput(f"nonlinear solver '{name}' is not installed: {install}")
    if plugin:
        importlib.import_module(plugin)
    probe = pyo.ConcreteModel()
    probe.x = pyo.Var(bounds=(0, 3), initialize=1.0)
    probe.objective = pyo.Objective(expr=(probe.x - 2.0) ** 2 + pyo.exp(-probe.x))
    try:
        # Pyomo logs a warning with a traceback for a missing solver; one line of our own says it better.
        with LoggingIntercept(io.StringIO(), "pyomo"):
            solver = pyo.SolverFactory(name)
            results = solver.solve(probe, load_solutions=False)
        solved = str(results.solver.termination_condition) in ("optimal", "locallyOptimal")
    except Exception as error:
        logger.debug("probe of %s: %s", name, error)
        solved = False
    if not solved:
        raise BadInput(f"nonlinear solver '{name}' is not installed or does not run: {install}")
    return solver
