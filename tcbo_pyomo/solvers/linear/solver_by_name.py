"""Linear solvers by name: a compiled one is a file of this folder, anything else a solver that Pyomo knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcbo_pyomo.foundation.registry import Registry
from tcbo_pyomo.solvers.linear.any_pyomo_solver import PyomoLinearSolver, known_to_pyomo
from tcbo_pyomo.solvers.linear.programme import LinearProgramme
from tcbo_pyomo.solvers.linear.solver import LinearSolver

COMPILED: Registry[LinearSolver] = Registry("tcbo_pyomo.solvers.linear", "linear solver", LinearSolver)


def linear_solver(
    name: str,
    programme: LinearProgramme,
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
) -> LinearSolver:
    """The solver of that name for a compiled programme; see `LinearSolver` for the parameters.

    `highs` or another file of this folder, any linear solver of Pyomo's SolverFactory, or 'my_module:MySolver'.
    `dynamic_programming` needs no programme and is made by the planner.
    """
    if name in COMPILED.names() or (":" in name and not known_to_pyomo(name)):
        return COMPILED.load(name)(programme, options, time_limit)
    return PyomoLinearSolver(name, programme, options, time_limit)
