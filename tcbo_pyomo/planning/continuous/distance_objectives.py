"""A path by way of given points: what the trajectory programme minimises when the next point and a later one are wanted.

minimise  sum_i weight_i |x_{h_i} - z_i|^2   over the compiled constraints
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


@dataclass(frozen=True)
class Passing:
    """A point (d) that the path is to pass as its `position`-th point to come, and how much a miss weighs."""

    position: int
    point: Array
    weight: float


class PassingObjective:
    """sum_i weight_i |x_{h_i} - z_i|^2: a path by way of given points."""

    def __init__(self, passing: Sequence[Passing]) -> None:
        self.passing = tuple(passing)

    def value(self, points: Array) -> float:
        """The weighted sum of squared distances."""
        return float(sum(p.weight * ((points[p.position] - p.point) ** 2).sum() for p in self.passing))

    def gradient(self, points: Array) -> Array:
        """2 weight (x - z) at the points that count, n x d."""
        slope = np.zeros(points.shape)
        for p in self.passing:
            slope[p.position] += 2.0 * p.weight * (points[p.position] - p.point)
        return slope

    def hessian(self, points: Array) -> Array:
        """2 weight on the diagonal, n x d x d."""
        curvature = np.zeros((*points.shape, points.shape[1]))
        for p in self.passing:
            curvature[p.position] += 2.0 * p.weight * np.eye(points.shape[1])
        return curvature

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        """The same sum over `model.state`."""
        order = list(steps)
        return sum(
            p.weight * (model.state[order[p.position], name] - z) ** 2
            for p in self.passing
            for name, z in zip(model.COORDINATES, p.point.tolist(), strict=True)
        )
