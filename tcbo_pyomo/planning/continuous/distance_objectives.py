"""What the trajectory programme minimises when a place is wanted rather than information: squared distances.

    sum over the wanted points z of  sum_h sum_i weight_i (x_hi - z_i)^2,

h over all points of the path, or only the one that is to be there.
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
    """A scaled point (d) where the path is wanted.

    Attributes
    ----------
    position
        Index among the points to come: a number, -1 for the last, or a slice for several.
    point
        z.
    weight
        How much a miss weighs, in all or for each coordinate.
    """

    position: int | slice
    point: Array
    weight: float | Array = 1.0


class DistanceObjective:
    """The weighted sum of squared distances to the points where the path is wanted."""

    def __init__(self, *passing: Passing) -> None:
        self.passing = passing

    @classmethod
    def to(cls, target: Array) -> DistanceObjective:
        """To one point all along the path."""
        return cls(Passing(slice(None), target))

    def value(self, points: Array) -> float:
        """The weighted sum of squared distances."""
        total = 0.0
        for p in self.passing:
            squared = (points[p.position] - p.point) ** 2
            total += p.weight * squared.sum() if isinstance(p.weight, float) else (p.weight * squared).sum()
        return float(total)

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
        terms = []
        for p in self.passing:
            weights = np.broadcast_to(p.weight, p.point.shape).tolist()
            for step in np.atleast_1d(np.array(steps)[p.position]).tolist():
                names = zip(model.INPUTS, p.point.tolist(), weights, strict=True)
                terms += [weight * (model.state[step, name] - z) ** 2 for name, z, weight in names]
        return sum(terms)
