"""A kernel times a positive factor, such as alpha_ode k_ode in the joint kernel of the Knorr experiment.

If f has the kernel k and the mean m, sqrt(factor) f has the kernel factor * k and the mean sqrt(factor) * m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


@dataclass(frozen=True)
class Scaled(Kernel):
    """`factor` times `kernel`; the inner kernel's parameters are called "kernel.lengthscale" and so on."""

    factor: float
    kernel: Kernel

    fitted: ClassVar[tuple[str, ...]] = ("factor",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.kernel, Kernel):
            raise self._refused("kernel", "a kernel")

    def __call__(self, left: Array, right: Array) -> Array:
        """Covariances, n x m."""
        return self.factor * self.kernel(left, right)

    def diagonal(self, points: Array) -> Array:
        """Prior variances of n points."""
        return self.factor * self.kernel.diagonal(points)

    def gradient(self, left: Array, right: Array) -> Array:
        """First derivatives with respect to `left`, n x m x d."""
        return self.factor * self.kernel.gradient(left, right)

    def hessian(self, left: Array, right: Array) -> Array:
        """Second derivatives with respect to `left`, n x m x d x d."""
        return self.factor * self.kernel.hessian(left, right)

    def mean(self, points: Array) -> Array:
        """Prior mean of n points."""
        return math.sqrt(self.factor) * self.kernel.mean(points)

    def mean_gradient(self, points: Array) -> Array:
        """First derivatives of the prior mean, n x d."""
        return math.sqrt(self.factor) * self.kernel.mean_gradient(points)

    def mean_hessian(self, points: Array) -> Array:
        """Second derivatives of the prior mean, n x d x d."""
        return math.sqrt(self.factor) * self.kernel.mean_hessian(points)

    def expression(self, point: Sequence[Any], centers: Array, weights: Array) -> Any:
        """s(x) of one point as a Pyomo expression."""
        return self.kernel.expression(point, centers, self.factor * weights)

    @property
    def parameters(self) -> dict[str, float]:
        """The factor and the parameters of the inner kernel."""
        return {"factor": self.factor, **{f"kernel.{k}": v for k, v in self.kernel.parameters.items()}}

    def _with_all(self, parameters: Mapping[str, float]) -> Kernel:
        inner = {name: parameters[f"kernel.{name}"] for name in self.kernel.parameters}
        return Scaled(parameters["factor"], self.kernel.with_parameters(inner))
