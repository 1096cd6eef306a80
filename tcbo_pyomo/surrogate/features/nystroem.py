"""Nystroem features (appendix "Approximation of Gaussian Processes").

phi(x) = D^-1/2 V^T (k(x, x_1), ..., k(x, x_m))^T, where V D V^T is the kernel matrix of the inducing points
x_1..x_m. The approximate kernel phi(x)^T phi(x') is exact wherever x or x' is an inducing point.
"""

from __future__ import annotations

import itertools

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.features.exact import SMALLEST_EIGENVALUE, significant_eigenpairs
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


def nystroem_projection(kernel: Kernel, inducing: Array) -> Array:
    """P = V D^-1/2 (m x M): weights w = P e with e ~ N(0, I) make k(x, C) w a sample of the prior."""
    eigenvalues, eigenvectors = significant_eigenpairs(kernel(inducing, inducing))
    return eigenvectors / np.sqrt(eigenvalues)


def nystroem_features(kernel: Kernel, inducing: Array, points: Array) -> Array:
    """Phi, n x M, from m x d inducing points; M is the rank of their kernel matrix."""
    return kernel(points, inducing) @ nystroem_projection(kernel, inducing)


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
