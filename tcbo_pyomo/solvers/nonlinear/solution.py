"""The answer of a nonlinear solver, checked by our own arithmetic: a solver's word is only a hint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.solvers.linear.programme import Bounds
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective
from tcbo_pyomo.solvers.nonlinear.path_terms import PathTerms
from tcbo_pyomo.solvers.nonlinear.programme import TOLERANCE, NonlinearProgramme


@dataclass(frozen=True, eq=False)
class NonlinearSolution:
    """What a solver returned.

    Attributes
    ----------
    values
        One value per column, cut to the bounds where it missed them by no more than the tolerance.
    objective
        The objective at `values`, by our own arithmetic.
    feasible
        Whether `values` are finite and keep every bound and row to 1e-6, by our own arithmetic.
    status
        "optimal", "acceptable", or in words what went wrong.
    violation, worst
        The largest amount by which a bound or row is missed, and its name.
    """

    values: Array
    objective: float
    feasible: bool
    status: str
    seconds: float
    iterations: int
    solver: str
    violation: float
    worst: str


class NonlinearSolver(Protocol):
    """One face for every interface."""

    name: str

    def solve(
        self,
        objective: PathObjective,
        x0: Array,
        column_lower: Array,
        column_upper: Array,
        row_lower: Array,
        row_upper: Array,
    ) -> NonlinearSolution:
        """Minimise the objective over the points of the path that are not given, from x0."""


def checked_solution(
    programme: NonlinearProgramme,
    terms: PathTerms,
    objective: PathObjective,
    bounds: Bounds,
    values: Array,
    status: str,
    seconds: float,
    iterations: int,
    solver: str,
) -> NonlinearSolution:
    """A solution whose feasibility and objective are computed here, whatever the solver said."""
    cut = np.clip(values, bounds.column_lower, bounds.column_upper)
    # Interior-point solvers may end 1e-8 outside a bound; more than the tolerance is an error and stays
    # visible.
    if np.isfinite(values).all() and float(np.abs(cut - values).max(initial=0.0)) <= TOLERANCE:
        values = cut
    violation, worst = programme.violation(values, *bounds)
    value = np.nan
    if np.isfinite(values).all():
        value = float(objective.value(terms.points(values, terms.given(bounds.column_lower, bounds.column_upper))))
    feasible = violation <= TOLERANCE and bool(np.isfinite(value))
    return NonlinearSolution(values, value, feasible, status, seconds, iterations, solver, violation, worst)
