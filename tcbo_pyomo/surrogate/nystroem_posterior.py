"""The posterior in Nystroem features (appendix "Approximation of Gaussian Processes").

With inducing points C and k(C, C) = V D V^T, f(x) = k(x, C) w with w ~ N(0, P P^T), P = V D^-1/2: a Gaussian
belief about the weights w, whose size does not grow with the data. An update costs O(M^2).

The inducing points are those of a greedy pivoted Cholesky factorisation among Sobol points and the corners of the
box; they depend on the kernel and the dimension alone.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.expansion import KernelExpansion
from tcbo_pyomo.surrogate.features import box_pool, greedy_points, nystroem_projection
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.kernel_sums import sections
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples


class NystroemPosterior:
    """A Gaussian process in M features, given visits.

    Parameters
    ----------
    kernel
        Prior covariance.
    inducing
        m x d scaled points; see `inducing_points`.
    """

    subtracts = False

    def __init__(self, kernel: Kernel, inducing: Array) -> None:
        self.kernel = kernel
        self.sections = sections(kernel, inducing)
        self._known = FiniteBelief(np.zeros(len(inducing)), nystroem_projection(kernel, inducing))
        # The belief in which pending visits count: the same one until there is a pending visit.
        self._visited = self._known

    def copy(self) -> NystroemPosterior:
        """An independent copy."""
        twin = copy(self)
        twin._known = self._known.copy()
        twin._visited = twin._known if self._visited is self._known else self._visited.copy()
        return twin

    @property
    def mean_weights(self) -> Array:
        """Weights (m) of the posterior mean."""
        return self._known.mean

    def observe(self, point: Array, surprise: float | None, noise_variance: float) -> None:
        """Condition on a value minus the prior mean, or on a visit (None)."""
        direction = self.sections(point[None, :])[0]
        if surprise is None and self._visited is self._known:
            self._visited = self._known.copy()
        if self._visited is not self._known:
            self._visited.observe_along(direction, None, noise_variance)
        if surprise is not None:
            self._known.observe_along(direction, surprise, noise_variance)

    def reduced(self, cross: Array) -> Array:
        """r = F^T k(C, x) of n points, as rows, where F F^T is the covariance of the weights."""
        return cross @ self._visited.factor

    def weights(self, reduced: Array) -> Array:
        """F r, as rows."""
        return reduced @ self._visited.factor.T

    def samples(self, count: int, generator: np.random.Generator, sign: float = 1.0) -> PosteriorSamples:
        """Draw weights."""
        factor = sign * self._visited.factor
        drawn = self.mean_weights[:, None] + factor @ generator.standard_normal((factor.shape[1], count))
        return PosteriorSamples(KernelExpansion(self.kernel, self.sections.centers, drawn))


def inducing_points(kernel: Kernel, dimension: int, number: int) -> Array:
    """At most `number` points of [-0.5, 0.5]^d whose values explain most of the prior variance everywhere."""
    # A fixed shift of the pool: the features of a problem must not change from run to run.
    return greedy_points(kernel, box_pool(dimension, np.random.default_rng(0)), number)
