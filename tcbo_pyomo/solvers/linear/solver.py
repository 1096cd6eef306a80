"""What every linear solver has in common: inputs are checked before a solve, answers after it."""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcbo_pyomo.errors import BadInput, InfeasiblePlan, SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.linear.programme import LinearProgramme
from tcbo_pyomo.solvers.linear.solution import LinearSolution, check_solution

logger = logging.getLogger(__name__)


class Verdict(Enum):
    """What a solver claims."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    INFEASIBLE_OR_UNBOUNDED = "infeasible or unbounded"
    TIME_LIMIT = "time limit reached"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Answer:
    """The raw answer of a solver; arrays only with an optimal verdict."""

    verdict: Verdict
    status: str
    seconds: float
    iterations: int = 0
    values: Array | None = None
    row_dual: Array | None = None


class LinearSolver(ABC):
    """Solves one compiled programme again and again with other costs and bounds.

    A solver of one's own is a class derived from this one with a method `optimise`, in a file of this folder whose name is
    the solver's name, or 'my_module:MySolver'. Every solve starts cold: the answer does not depend on what was solved before.

    Parameters
    ----------
    programme
        The compiled model.
    options
        Options of the solver, by its own names.
    time_limit
        Seconds allowed for one solve; None for no limit.
    """

    name: str
    """What messages call it: the name of its class unless it says otherwise."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.name = vars(cls).get("name", cls.__name__)

    def __init__(
        self,
        programme: LinearProgramme,
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
    ) -> None:
        number = isinstance(time_limit, (int, float)) and not isinstance(time_limit, bool)
        if time_limit is not None and not (number and 0 < time_limit < math.inf):
            raise BadInput(f"time_limit is {time_limit!r}; give seconds above 0, or leave it out for no limit")
        self.programme = programme
        self.options = dict(options or {})
        self.time_limit = time_limit

    @abstractmethod
    def optimise(self, cost: Array, bounds: Bounds) -> Answer:
        """Minimise `cost` within `bounds` (both checked) and report what the solver claims."""

    def version(self) -> str:
        """The version of the solver, for `tcbo solvers`."""
        return "version unknown"

    def solve(
        self,
        cost: ArrayLike,
        column_lower: ArrayLike | None = None,
        column_upper: ArrayLike | None = None,
        row_lower: ArrayLike | None = None,
        row_upper: ArrayLike | None = None,
    ) -> LinearSolution:
        """Minimise cost' x; a bound that is None is as compiled.

        Raises
        ------
        BadInput
            For an array of the wrong length or with NaN in it.
        InfeasiblePlan
            When it is proven that nothing satisfies all rows and bounds.
        SolverFailed
            When the solver gives no answer, or one that our arithmetic refuses.
        """
        costs = self._checked_cost(cost)
        bounds = self.programme.bounds(column_lower, column_upper, row_lower, row_upper)
        self._refuse_crossed(bounds)
        # A power of two changes no digit of the costs, and brings the largest to [0.5, 1) where tolerances make sense.
        exponent = math.frexp(float(np.abs(costs).max(initial=0.0)))[1]
        answer = self.optimise(np.ldexp(costs, -exponent), bounds)
        if answer.verdict is Verdict.INFEASIBLE_OR_UNBOUNDED:
            answer = self._which_of_the_two(answer, bounds)
        if answer.verdict is not Verdict.OPTIMAL or answer.values is None:
            raise self._failure(answer)
        values = check_solution(self.programme, bounds, answer.values, self.name)
        visited = np.flatnonzero(values)
        objective = math.fsum((costs[visited] * values[visited]).tolist())
        logger.debug("%s: %s, objective %g, %.4f s", self.name, answer.status, objective, answer.seconds)
        return LinearSolution(
            values=values,
            objective=objective,
            seconds=answer.seconds,
            iterations=answer.iterations,
            status=answer.status,
            row_dual=None if answer.row_dual is None else np.ldexp(answer.row_dual, exponent),
            solver=self.name,
        )

    def _checked_cost(self, cost: ArrayLike) -> Array:
        costs = np.ascontiguousarray(cost, dtype=float) + 0.0  # a copy, with 0.0 for -0.0
        if costs.shape != self.programme.column_lower.shape:
            raise BadInput(f"cost has shape {costs.shape}; the programme has {len(self.programme.columns)} columns")
        if not np.isfinite(costs).all():
            index = int(np.isfinite(costs).argmin())
            name = self.programme.columns[index].name
            raise BadInput(f"the cost of '{name}' is {costs[index]}; it must be a finite number")
        return costs

    def _refuse_crossed(self, bounds: Bounds) -> None:
        for lower, upper, owners in (
            (bounds.column_lower, bounds.column_upper, self.programme.columns),
            (bounds.row_lower, bounds.row_upper, self.programme.rows),
        ):
            crossed = lower > upper
            if crossed.any():
                index = int(crossed.argmax())
                raise InfeasiblePlan(
                    f"'{owners[index].name}' cannot hold: its lower bound {lower[index]:g} is above "
                    f"its upper bound {upper[index]:g}"
                )

    def _which_of_the_two(self, answer: Answer, bounds: Bounds) -> Answer:
        """Infeasible or unbounded: without costs nothing is unbounded."""
        costless = self.optimise(np.zeros(len(self.programme.columns)), bounds)
        if costless.verdict is Verdict.OPTIMAL:
            return replace(answer, verdict=Verdict.UNBOUNDED)
        if costless.verdict is Verdict.INFEASIBLE_OR_UNBOUNDED:
            return replace(answer, verdict=Verdict.INFEASIBLE)
        return costless

    def _failure(self, answer: Answer) -> InfeasiblePlan | SolverFailed:
        if answer.verdict is Verdict.INFEASIBLE:
            return InfeasiblePlan(f"no plan satisfies all constraints ({self.name}: {answer.status})")
        if answer.verdict is Verdict.TIME_LIMIT:
            allowed = "its time limit" if self.time_limit is None else f"the time limit of {self.time_limit:g} s"
            return SolverFailed(f"{self.name} did not finish within {allowed}; allow more time or another solver")
        if answer.verdict is Verdict.UNBOUNDED:
            return SolverFailed(
                f"{self.name}: the objective has no lower bound ({answer.status}); bound your own variables"
            )
        return SolverFailed(f"{self.name} found no optimum: {answer.status}")
