"""What the trajectory programme minimises when the best point of some function is sought: minus its value at one point.

The functions have gradients; second derivatives are differences of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.candidates.search.start_points import Functions
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

DIFFERENCE = 1e-4
"""Half the distance of the gradients whose difference gives a second derivative, as a share of each axis."""


class PointObjective:
    """-f(x) of one of K functions at one point of the path.

    Parameters
    ----------
    functions, owner
        The functions, and which of them counts.
    position
        The index of the point among those of the path.
    """

    def __init__(self, functions: Functions, owner: int, position: int) -> None:
        self.functions, self.owner, self.position = functions, owner, position

    def value(self, points: Array) -> float:
        """-f at the point."""
        return -float(self._evaluated(points[self.position][None])[0][0])

    def gradient(self, points: Array) -> Array:
        """-f' at the point, n x d; zero elsewhere."""
        slope = np.zeros(points.shape)
        slope[self.position] = -self._evaluated(points[self.position][None])[1][0]
        return slope

    def hessian(self, points: Array) -> Array:
        """-f'' at the point, n x d x d; zero elsewhere."""
        dimension = points.shape[1]
        aside = DIFFERENCE * np.eye(dimension)
        slopes = self._evaluated(points[self.position] + np.vstack([aside, -aside]))[1]
        second = (slopes[:dimension] - slopes[dimension:]) / (2.0 * DIFFERENCE)
        curvature = np.zeros((*points.shape, dimension))
        curvature[self.position] = -0.5 * (second + second.T)
        return curvature

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        """None: such a function is numbers only."""
        raise BadInput("only interface 'casadi' can search the best point of a function without a formula")

    def _evaluated(self, points: Array) -> tuple[Array, Array]:
        return self.functions.value_and_gradient(points, np.full(len(points), self.owner))
