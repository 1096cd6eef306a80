"""What both forms of the posterior offer; `ContinuousBelief` is written in these terms alone.

With fixed centres c_1..c_m and k(x) = (k(x, c_1), ..., k(x, c_m)) both forms are

    mean(x)    = m(x) + k(x)^T mean_weights,
    Cov(x, x') = k(x, x') - r(x)^T r(x')   (exact: what is left after the data explain r)   or
                 r(x)^T r(x')              (Nystroem: what is left of the features),

where r is a linear image of k(x).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernel_sums import Sections
from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples


class Posterior(Protocol):
    """A Gaussian process given measurements and visits.

    Attributes
    ----------
    subtracts
        True where the covariance is k(x, x') - r(x)^T r(x'), False where it is r(x)^T r(x').
    """

    subtracts: bool

    @property
    def sections(self) -> Sections:
        """x -> k(x), with the m centres."""

    @property
    def mean_weights(self) -> Array:
        """Weights (m) of the posterior mean, without the prior mean."""

    def observe(self, point: Array, surprise: float | None, noise_variance: float) -> None:
        """Condition on a value minus the prior mean at a point (d), or on a visit (None)."""

    def copy(self) -> Posterior:
        """An independent copy."""

    def reduced(self, cross: Array) -> Array:
        """r of n points, from their rows k(x) (n x m); n x r."""

    def weights(self, reduced: Array) -> Array:
        """Weights (n x m) of x' -> r(x)^T r(x') as a sum of kernels, from r of n points."""

    def samples(self, count: int, generator: np.random.Generator, sign: float = 1.0) -> PosteriorSamples:
        """Draw functions; with the sign -1 the chance in them is mirrored."""
