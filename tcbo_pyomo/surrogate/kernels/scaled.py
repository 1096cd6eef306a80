"""A kernel times a positive factor, such as alpha_ode k_ode in the joint kernel of the Knorr experiment.

If f has the kernel k and the mean m, sqrt(factor) f has the kernel factor * k and the mean sqrt(factor) * m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tcbo_pyomo.surrogate.kernels.combined import Combined
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


@dataclass(frozen=True)
class Scaled(Combined):
    """`factor` times `kernel`; the inner kernel's parameters are called "kernel.lengthscale" and so on."""

    factor: float
    kernel: Kernel

    fitted: ClassVar[tuple[str, ...]] = ("factor",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.kernel, Kernel):
            raise self._refused("kernel", "a kernel")

    def combination(self) -> tuple[float, dict[str, Kernel]]:
        """The factor and the kernel."""
        return self.factor, {"kernel": self.kernel}

    def _with_all(self, parameters: Mapping[str, float]) -> Kernel:
        return Scaled(parameters["factor"], *self._parts_with(parameters))
