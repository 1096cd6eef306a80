"""How far results lie from what the model expects of them, in standard deviations.

A result that is part of the model is compared with the prediction from all others: with A = K + diag(sigma^2),

    y_i - mean_{-i} = [A^-1 (y - m)]_i / [A^-1]_ii,   var_{-i} = 1 / [A^-1]_ii   (the noise of the result included).

If the model is right, they are standard normal: one in 370 lies beyond 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

ROUNDING = 1e-12
"""Share of the variance added to the noise: results without noise at the same place would have no inverse."""


@dataclass(frozen=True)
class LeftOut:
    """n results against their predictions from all others.

    Attributes
    ----------
    values
        As measured (n).
    means, deviations
        Of a measurement at the same place, predicted without this result (n each).
    """

    values: Array
    means: Array
    deviations: Array

    @property
    def residuals(self) -> Array:
        """Standardised residuals (n)."""
        return (self.values - self.means) / self.deviations

    def coverage(self, width: float) -> float:
        """Share of the results within so many standard deviations of their prediction; 1 where there are none."""
        return float((np.abs(self.residuals) <= width).mean()) if len(self.values) else 1.0


def leave_one_out(kernel: Kernel, points: Array, values: Array, noise_variances: Array) -> LeftOut:
    """Each of n results predicted from the other n - 1, all at once.

    Parameters
    ----------
    kernel
        Covariance and prior mean.
    points, values, noise_variances
        n x d scaled points, n values and n noise variances.
    """
    if len(values) == 0:
        return LeftOut(values, values, values)
    precision = np.linalg.inv(_covariance(kernel, points, noise_variances))
    left_out = 1.0 / precision.diagonal()
    residual = (precision @ (values - kernel.mean(points))) * left_out
    return LeftOut(values, values - residual, np.sqrt(left_out))


def squared_residuals(kernel: Kernel, points: Array, values: Array, noise_variances: Array) -> float:
    """The sum of squares of n standardised residuals, each result predicted from those before it; n is expected.

    Parameters as for `leave_one_out`. The order does not matter: it is (y - m)' A^-1 (y - m).
    """
    if len(values) == 0:
        return 0.0
    apart = values - kernel.mean(points)
    return float(apart @ np.linalg.solve(_covariance(kernel, points, noise_variances), apart))


def _covariance(kernel: Kernel, points: Array, noise_variances: Array) -> Array:
    """A, of the results."""
    covariance = kernel(points, points)
    covariance[np.diag_indices_from(covariance)] += noise_variances + ROUNDING * covariance.diagonal().max()
    return covariance
