"""What a linear solver answered, and the check of that answer by our own arithmetic.

A solver's word is only a hint: Pyomo's interfaces accept NaN and out-of-bounds values that are called "optimal". No
values leave this package before `check_solution` has accepted them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.linear.programme import LinearProgramme

TOLERANCE = 1e-7
"""Allowed violation of a bound, relative to the largest of 1, the bound and the terms of the row."""

INTEGRALITY_TOLERANCE = 1e-6
"""Allowed distance of a whole number from its value."""


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """An optimal and checked solution of a linear programme.

    Parameters
    ----------
    values
        One value per column, within the bounds of the column.
    objective
        cost' values, by our own arithmetic.
    seconds, iterations
        Time spent inside the solver, and its iterations (0 where it does not tell).
    status
        The solver's own word.
    row_dual
        Change of the objective per unit of a row's bound; None for an integer programme and for solvers that are called
        through Pyomo.
    solver
        Name of the solver.
    """

    values: Array
    objective: float
    seconds: float
    iterations: int
    status: str
    row_dual: Array | None
    solver: str


def check_solution(programme: LinearProgramme, bounds: Bounds, values: Array, solver: str) -> Array:
    """The values, rounded where whole and moved onto bounds they miss by the tolerance; anything worse is refused.

    Raises
    ------
    SolverFailed
        With the row or column that is violated, and by how much.
    """
    if values.shape != programme.column_lower.shape:
        raise SolverFailed(f"{solver} returned {len(values)} values for {len(programme.columns)} columns")
    if not np.isfinite(values).all():
        index = int(np.isfinite(values).argmin())
        raise SolverFailed(
            f"{solver} called it optimal, but '{programme.columns[index].name}' is {values[index]}; use another solver"
        )
    whole = programme.integrality
    if whole.any():
        rounded = np.where(whole, np.round(values), values)
        _refuse(np.abs(rounded - values), np.full(len(values), INTEGRALITY_TOLERANCE), programme, "column", solver)
        values = rounded
    _refuse(
        np.maximum(bounds.column_lower - values, values - bounds.column_upper),
        TOLERANCE * np.maximum(1.0, np.abs(values)),
        programme,
        "column",
        solver,
    )
    values = np.clip(values, bounds.column_lower, bounds.column_upper)
    activity = programme.matrix @ values
    excess = np.maximum(bounds.row_lower - activity, activity - bounds.row_upper)
    if (excess > TOLERANCE).any():
        largest_term = abs(programme.matrix) @ np.abs(values)
        _refuse(excess, TOLERANCE * np.maximum(1.0, largest_term), programme, "row", solver)
    return values


def _refuse(excess: Array, allowed: Array, programme: LinearProgramme, kind: str, solver: str) -> None:
    violated = excess > allowed
    if violated.any():
        index = int(np.where(violated, excess, 0.0).argmax())
        owner = programme.columns[index] if kind == "column" else programme.rows[index]
        raise SolverFailed(
            f"{solver} called it optimal, but '{owner.name}' is violated by {excess[index]:.3g} "
            f"(allowed {allowed[index]:.1g}); tighten the solver's tolerances or use another solver"
        )
