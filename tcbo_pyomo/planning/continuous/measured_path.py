"""Objectives on paths that are measured within their steps, too: information counts there, a place that is wanted does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


@dataclass(frozen=True)
class EndsOnly:
    """An objective of the ends of the steps, as a function of all measured points.

    Attributes
    ----------
    objective
        The objective of the ends.
    per_step
        Measured points of a step, the last of which is its end.
    """

    objective: PathObjective
    per_step: int

    def value(self, points: Array) -> float:
        """The sum over the ends."""
        return self.objective.value(points[self.per_step - 1 :: self.per_step])

    def gradient(self, points: Array) -> Array:
        """Zero but at the ends."""
        return self._spread(self.objective.gradient(points[self.per_step - 1 :: self.per_step]), points)

    def hessian(self, points: Array) -> Array:
        """Zero but at the ends."""
        return self._spread(self.objective.hessian(points[self.per_step - 1 :: self.per_step]), points)

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        """The same over `model.state`."""
        return self.objective.expression(model, steps)

    def _spread(self, of_ends: Array, points: Array) -> Array:
        every = np.zeros((len(points), *of_ends.shape[1:]))
        every[self.per_step - 1 :: self.per_step] = of_ends
        return every


def where_counted(objective: PathObjective, per_step: int) -> PathObjective:
    """The objective as a function of all measured points of a path."""
    if per_step == 1 or getattr(objective, "counts_every_measurement", False):
        return objective
    return EndsOnly(objective, per_step)
