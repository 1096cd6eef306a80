"""The Matern kernel of smoothness 3/2: functions with one derivative.

k(x, x') = variance * (1 + s) exp(-s), s = sqrt(3) r, r the distance in lengthscales.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.elementary_functions import exp
from tcbo_pyomo.surrogate.kernels.stationary import Stationary


@dataclass(frozen=True)
class MaternThreeHalves(Stationary):
    """Rough functions: once differentiable."""

    def correlation(self, distance: Array) -> Array:
        """(1 + s) exp(-s)."""
        s = math.sqrt(3.0) * distance
        return (1.0 + s) * exp(-s)

    def slope(self, distance: Array) -> Array:
        """-3 exp(-s)."""
        return -3.0 * exp(-math.sqrt(3.0) * distance)

    def curvature(self, distance: Array) -> Array:
        """9 exp(-s) / s, zero at r = 0: there it multiplies D D^T, which vanishes faster."""
        s = math.sqrt(3.0) * distance
        return np.divide(9.0 * exp(-s), s, out=np.zeros_like(s), where=s > 0)

    def frequencies(self, generator: np.random.Generator, number: int, dimension: int) -> Array:
        """Frequencies of a multivariate t distribution with 3 degrees of freedom, `number` x d."""
        spread = np.sqrt(3.0 / generator.chisquare(3.0, size=(number, 1)))
        return spread * generator.standard_normal((number, dimension)) / self._scale(dimension)
