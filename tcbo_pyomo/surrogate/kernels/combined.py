"""What sums and multiples of kernels share: k = factor * (k_1 + k_2 + ...), f = sqrt(factor) * (f_1 + f_2 + ...).

If each part has the mean m_i, f has the mean sqrt(factor) * (m_1 + m_2 + ...).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


@dataclass(frozen=True)
class Combined(Kernel):
    """A factor times a sum of kernels; a subclass says which, and what the parameters of each are called after."""

    @abstractmethod
    def combination(self) -> tuple[float, dict[str, Kernel]]:
        """The factor, and the parts by the name that stands before their parameters."""

    def __call__(self, left: Array, right: Array) -> Array:
        """Covariances, n x m."""
        return self._total(lambda part: part(left, right))

    def diagonal(self, points: Array) -> Array:
        """Prior variances of n points."""
        return self._total(lambda part: part.diagonal(points))

    def half_diagonal_gradient(self, points: Array) -> Array:
        """Half the gradient of k(x, x), n x d."""
        return self._total(lambda part: part.half_diagonal_gradient(points))

    def gradient(self, left: Array, right: Array) -> Array:
        """First derivatives with respect to `left`, n x m x d."""
        return self._total(lambda part: part.gradient(left, right))

    def hessian(self, left: Array, right: Array) -> Array:
        """Second derivatives with respect to `left`, n x m x d x d."""
        return self._total(lambda part: part.hessian(left, right))

    def mean(self, points: Array) -> Array:
        """Prior mean of n points."""
        return self._total(lambda part: part.mean(points), math.sqrt)

    def mean_gradient(self, points: Array) -> Array:
        """First derivatives of the prior mean, n x d."""
        return self._total(lambda part: part.mean_gradient(points), math.sqrt)

    def expression(self, point: Sequence[Any], centers: Array, weights: Array) -> Any:
        """s(x) of one point as a Pyomo expression."""
        factor, parts = self.combination()
        return sum(part.expression(point, centers, factor * weights) for part in parts.values())

    @property
    def parameters(self) -> dict[str, float]:
        """Its own parameters, and those of all parts with the name of the part before each."""
        found = super().parameters
        for name, part in self.combination()[1].items():
            found |= {f"{name}.{parameter}": number for parameter, number in part.parameters.items()}
        return found

    def _parts_with(self, parameters: Mapping[str, float]) -> list[Kernel]:
        """The parts, with parameters that are called as in `parameters`."""
        parts = self.combination()[1].items()
        return [part.with_parameters({k: parameters[f"{name}.{k}"] for k in part.parameters}) for name, part in parts]

    def _total(self, function: Callable[[Kernel], Array], power: Callable[[float], float] = float) -> Array:
        """The sum over the parts, times the factor or a power of it."""
        factor, parts = self.combination()
        return power(factor) * reduce(np.add, [function(part) for part in parts.values()])
