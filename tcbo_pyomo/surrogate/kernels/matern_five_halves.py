"""The Matern kernel of smoothness 5/2: functions with two derivatives.

k(x, x') = variance * (1 + s + s^2 / 3) exp(-s), s = sqrt(5) r, r the distance in lengthscales.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.elementary_functions import exp
from tcbo_pyomo.surrogate.kernels.stationary import Stationary


@dataclass(frozen=True)
class MaternFiveHalves(Stationary):
    """Moderately smooth functions: twice differentiable."""

    def correlation(self, distance: Array) -> Array:
        """(1 + s + s^2 / 3) exp(-s)."""
        s = math.sqrt(5.0) * distance
        return (1.0 + s + s**2 / 3.0) * exp(-s)

    def slope(self, distance: Array) -> Array:
        """-5/3 (1 + s) exp(-s)."""
        s = math.sqrt(5.0) * distance
        return -5.0 / 3.0 * (1.0 + s) * exp(-s)

    def curvature(self, distance: Array) -> Array:
        """25/3 exp(-s)."""
        return 25.0 / 3.0 * exp(-math.sqrt(5.0) * distance)

    def frequencies(self, generator: np.random.Generator, number: int, dimension: int) -> Array:
        """Frequencies of a multivariate t distribution with 5 degrees of freedom, `number` x d."""
        spread = np.sqrt(5.0 / generator.chisquare(5.0, size=(number, 1)))
        return spread * generator.standard_normal((number, dimension)) / self._scale(dimension)
