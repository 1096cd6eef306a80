"""What every kernel can do: covariance, prior mean, their derivatives, and plain data in and out (section 2).

A kernel says how values of f at two inputs vary together, k(x, x') = Cov[f(x), f(x')], and what is expected
before the first measurement, m(x) = E[f(x)]. Inputs are scaled points, rows of [-0.5, 0.5]^d. Kernels are
frozen: a fit gives a new kernel.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.registry import Registry

PACKAGE = __name__.rpartition(".")[0]


@dataclass(frozen=True)
class Kernel(ABC):
    """A covariance function with a prior mean.

    A new kernel is a frozen dataclass in a file of its own. `fitted` names the positive fields that a fit may
    change, `vectors` the fields that may hold several numbers. `a + b` is the kernel of a sum of two independent functions
    (`Sum`), `2.0 * a` a multiple (`Scaled`).
    """

    fitted: ClassVar[tuple[str, ...]] = ()
    vectors: ClassVar[tuple[str, ...]] = ()
    __array_ufunc__: ClassVar[None] = None
    """A number of NumPy leaves products to the kernel."""

    def __post_init__(self) -> None:
        self._check_numbers(self.fitted)

    @abstractmethod
    def __call__(self, left: Array, right: Array) -> Array:
        """Covariances k(left, right), n x m, of n x d and m x d points."""

    @abstractmethod
    def diagonal(self, points: Array) -> Array:
        """Prior variances k(x, x) of n points."""

    @abstractmethod
    def gradient(self, left: Array, right: Array) -> Array:
        """First derivatives of k with respect to `left`, n x m x d."""

    @abstractmethod
    def hessian(self, left: Array, right: Array) -> Array:
        """Second derivatives of k with respect to `left`, n x m x d x d."""

    def half_diagonal_gradient(self, points: Array) -> Array:
        """Half the gradient of k(x, x), n x d: by symmetry the gradient of k(x, x') in x at x' = x."""
        return np.array([self.gradient(point[None, :], point[None, :])[0, 0] for point in points]).reshape(points.shape)

    def mean(self, points: Array) -> Array:
        """Prior mean of n points; zero unless a kernel overrides it."""
        return np.zeros(len(points))

    def mean_gradient(self, points: Array) -> Array:
        """First derivatives of the prior mean, n x d."""
        return np.zeros_like(points, dtype=float)

    def __add__(self, other: Kernel) -> Kernel:
        """The kernel of f + g, f and g independent; sums of sums are one sum."""
        if not isinstance(other, Kernel):
            return NotImplemented
        sum_of = KERNELS.load("sum")
        parts = [part.kernels if type(part) is sum_of else (part,) for part in (self, other)]  # type: ignore[attr-defined]
        return sum_of((*parts[0], *parts[1]))

    def __mul__(self, factor: float) -> Kernel:
        """`factor` times this kernel: that of sqrt(factor) f."""
        if isinstance(factor, bool) or not isinstance(factor, (int, float, np.integer, np.floating)):
            return NotImplemented
        return KERNELS.load("scaled")(float(factor), self)

    __rmul__ = __mul__

    def expression(self, point: Sequence[Any], centers: Array, weights: Array) -> Any:
        """s(x) = sum_j w_j k(x, c_j) of one point as a Pyomo expression: what `planner.nonlinear.interface: pyomo` plans with.

        Parameters
        ----------
        point
            d Pyomo expressions, the scaled coordinates of x.
        centers, weights
            c_j (m x d, scaled) and w_j (m).
        """
        raise self._no_formula("expression")

    @classmethod
    def registry_name(cls) -> str:
        """The name `KERNELS` finds this class by: its file name, or "module:Class" for a user's own."""
        package, _, module = cls.__module__.rpartition(".")
        return module if package == PACKAGE else f"{cls.__module__}:{cls.__qualname__}"

    @property
    def parameters(self) -> dict[str, float]:
        """Positive hyper-parameters that a fit may change; entries of a tuple are called "lengthscale.0"."""
        found: dict[str, float] = {}
        for field in self.fitted:
            value = getattr(self, field)
            if isinstance(value, tuple):
                found |= {f"{field}.{i}": entry for i, entry in enumerate(value)}
            else:
                found[field] = value
        return found

    def with_parameters(self, parameters: Mapping[str, float]) -> Kernel:
        """The same kernel with some of its `parameters` changed."""
        known = self.parameters
        for name in parameters:
            if name not in known:
                raise BadInput(f"kernel '{self.registry_name()}': no parameter '{name}'; {suggestion(name, known)}")
        return self._with_all({**known, **parameters})

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `kernel_from_dict` turns back into an equal kernel."""
        values = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {"name": self.registry_name(), **values}

    def _with_all(self, parameters: Mapping[str, float]) -> Kernel:
        """The same kernel with all of its `parameters` given."""
        changes: dict[str, float | tuple[float, ...]] = {}
        for field in self.fitted:
            value = getattr(self, field)
            if isinstance(value, tuple):
                changes[field] = tuple(parameters[f"{field}.{i}"] for i in range(len(value)))
            else:
                changes[field] = parameters[field]
        return replace(self, **changes)

    def _check_numbers(
        self,
        names: Iterable[str],
        allowed: str = "a positive finite number",
        accept: Callable[[float], bool] = lambda number: number > 0,
    ) -> None:
        """Store the named fields as floats (or tuples of them), or refuse them by name and value."""
        for name in names:
            value = getattr(self, name)
            several = name in self.vectors and isinstance(value, (tuple, list)) and len(value) > 0
            numbers = value if several else (value,)
            for number in numbers:
                real = isinstance(number, (int, float, np.integer, np.floating))
                if not real or isinstance(number, bool) or not math.isfinite(number) or not accept(number):
                    raise self._refused(name, allowed)
            floats = tuple(float(number) for number in numbers)
            object.__setattr__(self, name, floats if several else floats[0])

    def _no_formula(self, missing: str) -> BadInput:
        """The error that says which method of which kernel a Pyomo formula needs."""
        return BadInput(
            f"kernel '{self.registry_name()}' has no Pyomo formula; give it `{missing}`, or use the interface 'casadi'"
        )

    def _refused(self, name: str, allowed: str) -> BadInput:
        """The error that says which field of which kernel is wrong, its value and what is allowed."""
        return BadInput(f"kernel '{self.registry_name()}': {name} {getattr(self, name)!r} must be {allowed}")


def _plain(value: Any) -> Any:
    if isinstance(value, Kernel):
        return value.to_dict()
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value


KERNELS: Registry[Kernel] = Registry(PACKAGE, "kernel", Kernel)
