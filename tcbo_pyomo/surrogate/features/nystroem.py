"""Nystroem features (appendix "Approximation of Gaussian Processes").

phi(x) = D^-1/2 V^T (k(x, x_1), ..., k(x, x_m))^T, where V D V^T is the kernel matrix of the inducing points
x_1..x_m. The approximate kernel phi(x)^T phi(x') is exact wherever x or x' is an inducing point.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.features.exact import SMALLEST_EIGENVALUE, significant_eigenpairs
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


@dataclass(frozen=True, eq=False)
class NystroemFeatures:
    """Features of any points from the kernel and m x d inducing points."""

    kernel: Kernel
    inducing: Array

    @property
    def number(self) -> int:
        """M, the number of features: the rank of the inducing points' kernel matrix."""
        return self._projection.shape[1]

    def __call__(self, points: Array) -> Array:
        """Phi, n x M."""
        return self.kernel(points, self.inducing) @ self._projection

    def gradient(self, points: Array) -> Array:
        """First derivatives of Phi, n x M x d."""
        slopes = self.kernel.gradient(points, self.inducing)
        return np.einsum("nmi,mk->nki", slopes, self._projection, optimize=True)

    def hessian(self, points: Array) -> Array:
        """Second derivatives of Phi, n x M x d x d."""
        curvatures = self.kernel.hessian(points, self.inducing)
        return np.einsum("nmij,mk->nkij", curvatures, self._projection, optimize=True)

    @cached_property
    def _projection(self) -> Array:
        """V D^-1/2, m x M."""
        eigenvalues, eigenvectors = significant_eigenpairs(self.kernel(self.inducing, self.inducing))
        return eigenvectors / np.sqrt(eigenvalues)


def greedy_points(kernel: Kernel, pool: Array, number: int) -> Array:
    """At most `number` rows of `pool` (N x d) for inducing points, by pivoted Cholesky.

    Each new point is the one whose prior variance the points before it explain least. That keeps the largest
    error on the pool far below that of a random choice, places no two points on top of each other, draws no
    random numbers, and ends by itself when nothing is left to explain.
    """
    unexplained = kernel.diagonal(pool)
    threshold = SMALLEST_EIGENVALUE * unexplained.max(initial=0.0)
    factor = np.zeros((len(pool), min(number, len(pool))))
    chosen: list[int] = []
    for column in range(factor.shape[1]):
        pivot = int(unexplained.argmax())
        if unexplained[pivot] <= threshold:
            break
        residual = kernel(pool, pool[[pivot]])[:, 0] - factor[:, :column] @ factor[pivot, :column]
        factor[:, column] = residual / np.sqrt(unexplained[pivot])
        unexplained = unexplained - factor[:, column] ** 2
        unexplained[pivot] = 0.0
        chosen.append(pivot)
    return pool[chosen]


def box_pool(dimension: int, generator: np.random.Generator) -> Array:
    """Points that fill [-0.5, 0.5]^d evenly, for `greedy_points`: 4096 shifted Sobol points and the corners.

    The shift is random; corners belong to it because little explains the prior variance there, and campaigns
    start there.
    """
    from scipy.stats import qmc  # Slow to load, and not needed where the kernel is exact.

    sobol = qmc.Sobol(dimension, scramble=False).random_base2(12)
    shifted = (sobol + generator.random(dimension)) % 1.0 - 0.5
    corners = itertools.islice(itertools.product((-0.5, 0.5), repeat=dimension), 1024)
    return np.vstack([list(corners), shifted])
