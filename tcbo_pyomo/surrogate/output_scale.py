"""On which scale the output is modelled: as it is measured, or by its logarithm.

A concentration of a trace, a count rate or a lifetime is positive and spans decades; its logarithm is closer to what a Gaussian
process believes. Only beliefs see the logarithm: what users tell and read stays in the unit of the output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.improvement import density, distribution, expected_improvement
from tcbo_pyomo.surrogate.rivals import Rivals

NODES = 24
"""Of the quadrature over one of two log-normal outputs."""


@dataclass(frozen=True)
class OutputScale:
    """The output is modelled as it is measured.

    Attributes
    ----------
    noise_factor
        What turns a noise variance of a measurement into one of the modelled quantity.
    """

    noise_factor: float = 1.0

    def modelled(self, value: float) -> float:
        """What the belief is told about a measured value."""
        return value

    def measured(self, mean: Array, deviation: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the output, from those of the modelled quantity (n each)."""
        return mean, deviation

    def output(self, modelled: Any) -> Any:
        """The output that a modelled value stands for."""
        return modelled

    def excess(self, mean: Array, deviation: Array, level: Any) -> Array:
        """E[(y - level)+] of outputs y whose modelled values are normal."""
        return expected_improvement(mean, deviation, level)

    def excess_slopes(self, mean: Array, deviation: Array, level: Any) -> tuple[Array, Array]:
        """Its derivatives by the mean and the standard deviation of the modelled values."""
        u = (mean - level) / deviation
        return distribution(u), density(u)

    def excess_of_two(self, rivals: Rivals, sign: float, level: float) -> Array:
        """E[(y + sign y* - level)+] of the outputs of rivals, y, and of the recommended place, y*."""
        variance = rivals.variance + rivals.best_variance + 2.0 * sign * rivals.covariance
        return expected_improvement(rivals.mean + sign * rivals.best_mean, np.sqrt(np.maximum(variance, 0.0)), level)


@dataclass(frozen=True)
class LogScale(OutputScale):
    """The logarithm of the output is modelled.

    Attributes
    ----------
    floor
        What is measured below it, zero and negative readings included, counts as this much.
    """

    floor: float = 1.0

    @classmethod
    def of_range(cls, low: float, high: float) -> LogScale:
        """From a positive range: the noise is taken as it is in the (geometric) middle, d log y = dy / y."""
        return cls(1.0 / (low * high), low)

    def modelled(self, value: float) -> float:
        """The logarithm, of the floor at least."""
        return math.log(max(value, self.floor))

    def measured(self, mean: Array, deviation: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the log-normal output."""
        center = np.exp(mean + 0.5 * deviation**2)
        return center, center * np.sqrt(np.expm1(deviation**2))

    def output(self, modelled: Any) -> Any:
        """The output that a logarithm stands for."""
        return np.exp(modelled)

    def excess(self, mean: Array, deviation: Array, level: Any) -> Array:
        """E[(y - level)+] of log-normal outputs (Black and Scholes 1973)."""
        center, inside, beyond, certain = self._shares(mean, deviation, level)
        return np.where(certain, np.maximum(np.exp(mean) - level, 0.0), np.maximum(center * inside - level * beyond, 0.0))

    def excess_slopes(self, mean: Array, deviation: Array, level: Any) -> tuple[Array, Array]:
        """Its derivatives by the mean and the standard deviation of the logarithms."""
        center, inside, _, _ = self._shares(mean, deviation, level)
        rise = density((mean - _log(level)) / deviation + deviation)
        return center * inside, center * (deviation * inside + rise)

    def excess_of_two(self, rivals: Rivals, sign: float, level: float) -> Array:
        """E[(y + sign y* - level)+] of log-normal outputs: a sum over quantiles of y*, for a sum has no closed form."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        best_deviation = np.sqrt(np.maximum(rivals.best_variance, 0.0))
        slope = rivals.covariance / np.maximum(best_deviation, np.finfo(float).tiny)
        rest = np.sqrt(np.maximum(rivals.variance - slope**2, 0.0))
        found = np.zeros(())
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            best = np.exp(rivals.best_mean + best_deviation * node)
            found = found + weight * self.excess(rivals.mean + slope * node, rest, level - sign * best)
        return found / math.sqrt(2.0 * math.pi)

    def _shares(self, mean: Array, deviation: Array, level: Any) -> tuple[Array, Array, Array, Any]:
        """E[y], the share of it that lies above a level, the probability of being above it, and where y is certain."""
        certain = np.asarray(deviation) <= 0.0
        spread = np.where(certain, 1.0, deviation)
        u = (mean - _log(level)) / spread
        return np.exp(mean + 0.5 * deviation**2), distribution(u + spread), distribution(u), certain


def _log(level: Any) -> Array:
    """The logarithm of a level; minus infinity of one that every positive output exceeds."""
    positive = np.asarray(level) > 0.0
    return np.where(positive, np.log(np.where(positive, level, 1.0)), -np.inf)
