"""Exact features of a finite set of points: M = |X| in the discrete systems (appendix "Benchmark Details").

The symmetric eigendecomposition K = V D V^T of the kernel matrix gives the factor F = V D^1/2 with F F^T = K.
Unlike a Cholesky factor it exists for kernels of low rank too, and directions of mere rounding are dropped.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

ROUNDING = 1e-12
"""Share of the variance added to the noise of given values: repeats with hardly any noise would have no factor."""
SMALLEST_EIGENVALUE = 1e-14
"""Relative to the largest: below this an eigenvalue is rounding."""


def exact_factor(kernel: Kernel, points: Array) -> Array:
    """F, n x M with M <= n, such that F F^T = k(points, points)."""
    eigenvalues, eigenvectors = significant_eigenpairs(kernel(points, points))
    return eigenvectors * np.sqrt(eigenvalues)


def quick_factor(kernel: Kernel, points: Array) -> Array:
    """Like `exact_factor`, by a Cholesky factor with pivots: faster, for priors that change with results."""
    from scipy.linalg.lapack import dpstrf  # Slow to load, and campaigns with a given kernel do without it.

    matrix = _finite(kernel(points, points))
    found, pivots, rank, _ = dpstrf(matrix, tol=SMALLEST_EIGENVALUE * max(float(matrix.diagonal().max()), 0.0), lower=1)
    factor = np.empty((len(points), rank))
    factor[pivots - 1] = np.tril(found)[:, :rank]
    return factor


def given_points(kernel: Kernel, states: Array, points: Array, values: Array, noise_variances: Array) -> FiniteBelief:
    """The belief on n states given values at m points that need not be states; everything is scaled (n x d, m x d).

    With A = k(P, P) + diag(sigma^2) = L L^T and C = L^-1 k(P, X): covariance k(X, X) - C^T C, mean m(X) + C^T L^-1 (y - m(P)).
    """
    from scipy.linalg import solve_triangular  # Slow to load, and most campaigns have no such values.

    covariance = kernel(points, points)
    covariance[np.diag_indices_from(covariance)] += noise_variances + ROUNDING * covariance.diagonal().max()
    lower = np.linalg.cholesky(covariance)
    cross = solve_triangular(lower, kernel(points, states), lower=True)
    surprise = solve_triangular(lower, values - kernel.mean(points), lower=True)
    eigenvalues, eigenvectors = significant_eigenpairs(kernel(states, states) - cross.T @ cross)
    return FiniteBelief(kernel.mean(states) + cross.T @ surprise, eigenvectors * np.sqrt(eigenvalues))


def significant_eigenpairs(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues (M) of a symmetric n x n matrix that are more than rounding, with eigenvectors (n x M)."""
    eigenvalues, eigenvectors = np.linalg.eigh(_finite(matrix))
    kept = eigenvalues > SMALLEST_EIGENVALUE * max(eigenvalues[-1], 0.0)
    return eigenvalues[kept], eigenvectors[:, kept]


def _finite(matrix: Array) -> Array:
    if not np.isfinite(matrix).all():
        raise BadInput("the kernel gives values that are not finite; check its parameters and the points")
    return matrix
