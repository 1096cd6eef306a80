"""Solvers by name: linear programmes compiled for HiGHS, or through any solver that Pyomo knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcbo_pyomo.solvers.highs import HighsSolver
from tcbo_pyomo.solvers.linear_programme import LinearProgramme, compile_linear_model
from tcbo_pyomo.solvers.linear_solution import LinearSolution
from tcbo_pyomo.solvers.linear_solver import LinearSolver
from tcbo_pyomo.solvers.pyomo_linear import PyomoLinearSolver

__all__ = ["LinearProgramme", "LinearSolution", "LinearSolver", "compile_linear_model", "linear_solver"]


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
    if name == HighsSolver.name:
        return HighsSolver(programme, options, time_limit, hot_start)
    return PyomoLinearSolver(name, programme, options, time_limit, hot_start)
