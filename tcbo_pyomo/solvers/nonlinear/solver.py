"""What every nonlinear solver has in common: the objective is scaled before a solve, the answer checked after it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective, PathTerms, ScaledObjective
from tcbo_pyomo.solvers.nonlinear.programme import TOLERANCE, NonlinearProgramme


@dataclass(frozen=True, eq=False)
class Answer:
    """The raw answer of a solver: one value per column, its status in words, and its iterations (0 where it does not tell)."""

    values: Array
    status: str
    iterations: int = 0


@dataclass(frozen=True, eq=False)
class NonlinearSolution:
    """What a solver returned, checked by our own arithmetic: a solver's word is only a hint.

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


class NonlinearSolver(ABC):
    """A compiled programme that is solved again and again with other objectives, starts and bounds.

    A solver of one's own is a class derived from this one with a method `optimise`, in a file of this folder that is called
    after solver and interface, such as ipopt_casadi.

    Parameters
    ----------
    programme
        The compiled constraints.
    terms
        Which columns are the points of the path.
    options
        The solver's own options.
    time_limit, max_iterations
        Limits of one solve: seconds, and iterations.
    """

    name: str

    def __init__(
        self,
        programme: NonlinearProgramme,
        terms: PathTerms,
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
        max_iterations: int | None = None,
    ) -> None:
        self.programme, self.terms = programme, terms
        self.options, self.time_limit, self.max_iterations = dict(options or {}), time_limit, max_iterations
        self.prepare()

    def prepare(self) -> None:  # noqa: B027
        """What is done once, before the first solve; nothing unless a solver needs it."""

    @abstractmethod
    def optimise(self, objective: ScaledObjective, x0: Array, bounds: Bounds) -> Answer:
        """Minimise the objective within the bounds, from x0, and report what the solver claims."""

    def solve(self, objective: PathObjective, x0: Array, bounds: Bounds) -> NonlinearSolution:
        """Minimise the objective over the points of the path that are not given, from x0."""
        given = self.terms.given(bounds.column_lower, bounds.column_upper)
        began = time.perf_counter()
        with one_blas_thread():
            answer = self.optimise(ScaledObjective.at_start(self.terms, objective, given, x0), x0, bounds)
        values, seconds = answer.values, time.perf_counter() - began
        cut = np.clip(values, bounds.column_lower, bounds.column_upper)
        # Interior-point solvers may end 1e-8 outside a bound; more than the tolerance is an error and stays visible.
        if np.isfinite(values).all() and float(np.abs(cut - values).max(initial=0.0)) <= TOLERANCE:
            values = cut
        violation, worst = self.programme.violation(values, bounds)
        value = float(objective.value(self.terms.points(values, given))) if np.isfinite(values).all() else np.nan
        feasible = violation <= TOLERANCE and bool(np.isfinite(value))
        return NonlinearSolution(
            values, value, feasible, answer.status, seconds, answer.iterations, self.name, violation, worst
        )
