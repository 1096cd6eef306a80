"""The squared-exponential (RBF) kernel, used in all the paper's benchmarks (appendix "Benchmark Details").

k(x, x') = variance * exp(-r^2 / 2), r the distance in lengthscales (the paper leaves out the square of l).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.elementary_functions import exp
from tcbo_pyomo.surrogate.kernels.stationary import Stationary


@dataclass(frozen=True)
class SquaredExponential(Stationary):
    """Infinitely smooth functions."""

    def correlation(self, distance: Array) -> Array:
        """exp(-r^2 / 2)."""
        return np.exp(-0.5 * distance**2)

    def slope(self, distance: Array) -> Array:
        """-exp(-r^2 / 2)."""
        return -np.exp(-0.5 * distance**2)

    def curvature(self, distance: Array) -> Array:
        """exp(-r^2 / 2)."""
        return np.exp(-0.5 * distance**2)

    def correlation_expression(self, squared: Any) -> Any:
        """The same of r^2: no root is needed."""
        return exp(-0.5 * squared)

    def frequencies(self, generator: np.random.Generator, number: int, dimension: int) -> Array:
        """Normal frequencies with standard deviation 1 / lengthscale, `number` x d."""
        return generator.standard_normal((number, dimension)) / self._scale(dimension)
