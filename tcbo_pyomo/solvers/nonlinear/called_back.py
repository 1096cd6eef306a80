"""The objective as compiled code calls it back; it swallows exceptions and Ctrl-C, so both are kept and raised afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.solvers.interrupts import NotedInterrupt
from tcbo_pyomo.solvers.nonlinear.path_objective import ScaledObjective

Number = TypeVar("Number")


class CalledBack(NotedInterrupt):
    """A context for one solve: leaving it raises what the objective or the user has raised meanwhile."""

    def __init__(self, objective: ScaledObjective) -> None:
        super().__init__()
        self._objective = objective
        self._error: BaseException | None = None

    @property
    def stopped(self) -> bool:
        """Whether the solve is to end."""
        return self._error is not None or self.requested

    def evaluate(
        self, function: Callable[[ScaledObjective, Array], Number], values: Array, otherwise: Number
    ) -> Number:
        """A number or array of the objective at these columns; `otherwise` where it fails, and ever after."""
        if not self.stopped:
            try:
                with section("NLP objective"):
                    return function(self._objective, values)
            except BaseException as error:
                self._error = error
        return otherwise

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._error is not None:
            raise self._error
