"""What the trajectory programme minimises when a place is wanted rather than information: squared distances.

to one point all along the path:    sum_h sum_i weight_i (x_hi - z_i)^2
by way of some points:              sum_i weight_i |x_{h_i} - z_i|^2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


class DistanceObjective:
    """sum_h sum_i weight_i (x_hi - z_i)^2, over all points or only over the last one.

    Parameters
    ----------
    target
        z, a scaled point (d).
    weights
        One non-negative weight per coordinate; all one when not given.
    last_only
        Whether only the last point of the path counts.
    """

    def __init__(self, target: Array, weights: Array | None = None, last_only: bool = False) -> None:
        self.target = np.asarray(target, dtype=float)
        self.weights = np.ones(len(self.target)) if weights is None else np.asarray(weights, dtype=float)
        self.last_only = last_only

    def value(self, points: Array) -> float:
        """The weighted sum of squared distances."""
        return float((self._counted(points) * self.weights * (points - self.target) ** 2).sum())

    def gradient(self, points: Array) -> Array:
        """2 weight (x - z), n x d."""
        return 2.0 * self._counted(points) * self.weights * (points - self.target)

    def hessian(self, points: Array) -> Array:
        """2 weight on the diagonal, n x d x d."""
        return 2.0 * self._counted(points)[:, :, None] * np.diag(self.weights)[None, :, :]

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        """The same sum over `model.state`."""
        counted = list(steps)[-1:] if self.last_only else steps
        terms = list(zip(model.COORDINATES, self.weights.tolist(), self.target.tolist(), strict=True))
        return sum(w * (model.state[step, name] - z) ** 2 for step in counted for name, w, z in terms)

    def _counted(self, points: Array) -> Array:
        counted = np.full((len(points), 1), 0.0 if self.last_only else 1.0)
        counted[-1:] = 1.0
        return counted


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
