"""The sum of kernels: f is a sum of independent parts, such as k_ode + k_rbf of the Knorr experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


@dataclass(frozen=True)
class Sum(Kernel):
    """The sum of `kernels`; the parameters of the second one are called "1.lengthscale" and so on."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        parts = tuple(self.kernels) if isinstance(self.kernels, (tuple, list)) else ()
        if not parts or not all(isinstance(part, Kernel) for part in parts):
            raise self._refused("kernels", "a non-empty tuple of kernels")
        object.__setattr__(self, "kernels", parts)

    def __call__(self, left: Array, right: Array) -> Array:
        """Covariances, n x m."""
        return _total([kernel(left, right) for kernel in self.kernels])

    def diagonal(self, points: Array) -> Array:
        """Prior variances of n points."""
        return _total([kernel.diagonal(points) for kernel in self.kernels])

    def gradient(self, left: Array, right: Array) -> Array:
        """First derivatives with respect to `left`, n x m x d."""
        return _total([kernel.gradient(left, right) for kernel in self.kernels])

    def hessian(self, left: Array, right: Array) -> Array:
        """Second derivatives with respect to `left`, n x m x d x d."""
        return _total([kernel.hessian(left, right) for kernel in self.kernels])

    def mean(self, points: Array) -> Array:
        """Prior mean of n points."""
        return _total([kernel.mean(points) for kernel in self.kernels])

    def mean_gradient(self, points: Array) -> Array:
        """First derivatives of the prior mean, n x d."""
        return _total([kernel.mean_gradient(points) for kernel in self.kernels])

    def mean_hessian(self, points: Array) -> Array:
        """Second derivatives of the prior mean, n x d x d."""
        return _total([kernel.mean_hessian(points) for kernel in self.kernels])

    def expression(self, point: Sequence[Any], centers: Array, weights: Array) -> Any:
        """s(x) of one point as a Pyomo expression."""
        return sum(kernel.expression(point, centers, weights) for kernel in self.kernels)

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of all parts, with the position of the part before each name."""
        return {f"{i}.{k}": v for i, kernel in enumerate(self.kernels) for k, v in kernel.parameters.items()}

    def _with_all(self, parameters: Mapping[str, float]) -> Kernel:
        return Sum(
            tuple(
                kernel.with_parameters({name: parameters[f"{i}.{name}"] for name in kernel.parameters})
                for i, kernel in enumerate(self.kernels)
            )
        )


def _total(terms: list[Array]) -> Array:
    """The sum of arrays of one shape."""
    return reduce(np.add, terms)
