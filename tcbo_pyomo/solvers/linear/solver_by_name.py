"""Solvers by name: linear programmes compiled for HiGHS, or through any solver that Pyomo knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tcbo_pyomo.solvers.linear.programme import LinearProgramme
    from tcbo_pyomo.solvers.linear.solver import LinearSolver


def linear_solver(
    name: str,
    programme: LinearProgramme,
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    hot_start: bool = False,
) -> LinearSolver:
    """The solver of that name for a compiled programme: `highs`, or any linear solver of Pyomo's SolverFactory.

    See `LinearSolver` for the parameters. `dynamic_programming` needs no programme and is made by the planner.
    """
    # Here, since dynamic programming should not wait for Pyomo.
    from tcbo_pyomo.solvers.linear.any_pyomo_solver import PyomoLinearSolver
    from tcbo_pyomo.solvers.linear.highs import HighsSolver

    if name == HighsSolver.name:
        return HighsSolver(programme, options, time_limit, hot_start)
    return PyomoLinearSolver(name, programme, options, time_limit, hot_start)
