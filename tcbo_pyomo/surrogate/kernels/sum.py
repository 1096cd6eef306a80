"""The sum of kernels: f is a sum of independent parts, such as k_ode + k_rbf of the Knorr experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tcbo_pyomo.surrogate.kernels.combined import Combined
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


@dataclass(frozen=True)
class Sum(Combined):
    """The sum of `kernels`; the parameters of the second one are called "1.lengthscale" and so on."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        parts = tuple(self.kernels) if isinstance(self.kernels, (tuple, list)) else ()
        if not parts or not all(isinstance(part, Kernel) for part in parts):
            raise self._refused("kernels", "a non-empty tuple of kernels")
        object.__setattr__(self, "kernels", parts)

    def combination(self) -> tuple[float, dict[str, Kernel]]:
        """One, and the kernels by their position."""
        return 1.0, {str(i): kernel for i, kernel in enumerate(self.kernels)}

    def _with_all(self, parameters: Mapping[str, float]) -> Kernel:
        return Sum(tuple(self._parts_with(parameters)))
