"""Finite features of a kernel, k(x, x') ~ Phi(x)^T Phi(x') (section "Utility with kernel embeddings")."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.features.exact import exact_factor
from tcbo_pyomo.surrogate.features.nystroem import box_pool, greedy_points, nystroem_features, nystroem_projection
from tcbo_pyomo.surrogate.features.random_fourier import RandomFourierFeatures
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

__all__ = [
    "RandomFourierFeatures",
    "box_pool",
    "checked_number",
    "default_number",
    "exact_factor",
    "greedy_points",
    "nystroem_features",
    "nystroem_projection",
    "state_factor",
]

FEATURES = ("exact", "nystroem", "random_fourier")


def default_number(dimension: int) -> int:
    """M = min(2^(5 + d), 512), the paper's number of features (appendix "Benchmark Details")."""
    return min(2 ** (5 + dimension), 512)


def checked_number(number: int | None, dimension: int) -> int:
    """The number of features asked for; None for the paper's."""
    if number is None:
        return default_number(dimension)
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise BadInput(f"number of features {number!r} must be a whole number of at least 1")
    return int(number)


def state_factor(kernel: Kernel, points: Array, name: str, number: int | None, generator: np.random.Generator) -> Array:
    """The factor F (n x M) of the prior covariance of f at the states of a finite process, F F^T ~ k(X, X).

    Parameters
    ----------
    kernel
        Prior covariance.
    points
        n x d scaled states.
    name
        "exact", "nystroem" (inducing points chosen among the states) or "random_fourier".
    number
        At most so many features; None for min(2^(5 + d), 512). The exact factor takes none.
    generator
        Source of the random frequencies; the other two draw nothing from it.
    """
    if name not in FEATURES:
        raise BadInput(f"unknown features {name!r}; {suggestion(str(name), FEATURES)}")
    if name == "exact":
        if number is not None:
            raise BadInput(f"features 'exact' take no number, got {number!r}; leave it out or use 'nystroem'")
        return exact_factor(kernel, points)
    number = checked_number(number, points.shape[1])
    if name == "nystroem":
        return nystroem_features(kernel, greedy_points(kernel, points, number), points)
    return RandomFourierFeatures(kernel, points.shape[1], number, generator)(points)
