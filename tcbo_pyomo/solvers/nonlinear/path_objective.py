"""What a trajectory can be planned for: a sum over the points of a path, with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tcbo_pyomo.foundation.arrays import Array

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


class PathObjective(Protocol):
    """sum_h cost(x_h), to be minimised; `points` are n x d scaled points of a path."""

    def value(self, points: Array) -> float:
        """The sum over the points."""

    def gradient(self, points: Array) -> Array:
        """Derivatives with respect to the points, n x d."""

    def hessian(self, points: Array) -> Array:
        """Second derivatives of each point's term, n x d x d; the terms of different points do not mix."""

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        """The same sum as a Pyomo expression over `model.state[step, :]`, for solvers that read formulas."""
