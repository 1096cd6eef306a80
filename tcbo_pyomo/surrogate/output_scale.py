"""On which scale the output is modelled: as it is measured, or by its logarithm.

A concentration of a trace, a count rate or a lifetime is positive and spans decades; its logarithm is closer to what a Gaussian
process believes. Only beliefs see the logarithm: what users tell and read stays in the unit of the output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array


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
