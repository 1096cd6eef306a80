"""Mean and covariance of f at a few places, and functions drawn there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


@dataclass(frozen=True)
class Moments:
    """A Gaussian vector.

    Attributes
    ----------
    mean, covariance
        m values, and m x m.
    """

    mean: Array
    covariance: Array

    @classmethod
    def given(cls, kernel: Kernel, points: Array, values: Array, noise_variances: Array, places: Array) -> Self:
        """The posterior at places (m x d) given results (n x d points, n values, n noise variances)."""
        import scipy.linalg as linalg  # Only learned models ask for it.

        inner = kernel(points, points)
        inner[np.diag_indices_from(inner)] += noise_variances
        factor = linalg.cholesky(inner, lower=True, check_finite=False)
        explained = linalg.solve_triangular(factor, kernel(points, places), lower=True, check_finite=False)
        surprise = linalg.solve_triangular(factor, values - kernel.mean(points), lower=True, check_finite=False)
        return cls(kernel.mean(places) + explained.T @ surprise, kernel(places, places) - explained.T @ explained)

    def drawn(self, normal: Array) -> Array:
        """Values at the places (k x m), made of standard normal numbers (k x m)."""
        spectrum, vectors = np.linalg.eigh(self.covariance)
        return np.asarray(self.mean + (normal * np.sqrt(np.maximum(spectrum, 0.0))) @ vectors.T)
