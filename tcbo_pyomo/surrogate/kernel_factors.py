"""Factors on the lengthscales, variance and noise that were declared: what learning changes about a belief.

Factors are common to all stationary parts of a kernel; parts that know their shape (a reaction model, a level) stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.combined import Combined
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.stationary import Stationary
from tcbo_pyomo.surrogate.kernels.sum import Sum


@dataclass(frozen=True)
class Factors:
    """Factors on what was declared.

    Attributes
    ----------
    lengthscales
        One per coordinate.
    variance
        Of the stationary parts.
    noise
        Of every noise variance.
    """

    lengthscales: tuple[float, ...]
    variance: float = 1.0
    noise: float = 1.0


@dataclass(frozen=True)
class Spreads:
    """Standard deviations of the logarithms of the factors; 0 where a declared value is certain.

    Attributes
    ----------
    lengthscales
        One per coordinate.
    variance
        Learned upwards only: a variance fitted to the first hill is too small for the others.
    noise
        Of the noise variance.
    """

    lengthscales: tuple[float, ...]
    variance: float = 0.0
    noise: float = 0.0


@dataclass(frozen=True)
class Learned:
    """What the results say about the hyper-parameters.

    Attributes
    ----------
    kernel
        The declared kernel with the learned factors.
    factors
        On the declared values.
    results
        How many results it is learned from.
    curvature
        Finds the `uncertainty`: no plan needs it, only those who show or keep what was learned.
    """

    kernel: Kernel
    factors: Factors
    results: int
    curvature: Callable[[], Spreads] = field(compare=False, repr=False)

    @cached_property
    def uncertainty(self) -> Spreads:
        """Standard deviations of the logarithms of the lengthscales, the variance and the noise.

        From the curvature of the density at the answer; those declared before the first results.
        """
        return self.curvature()


def with_factors(kernel: Kernel, factors: Factors) -> Kernel:
    """The kernel with the factors applied to its stationary parts; unchanged where all of them are one."""
    if isinstance(kernel, Stationary):
        lengths = lengthscales(kernel, len(factors.lengthscales))
        changed = tuple((lengths * np.array(factors.lengthscales)).tolist())
        if changed == tuple(lengths.tolist()) and factors.variance == 1.0:
            return kernel
        return replace(kernel, variance=kernel.variance * factors.variance, lengthscale=changed)
    if isinstance(kernel, Sum):
        return Sum(tuple(with_factors(part, factors) for part in kernel.kernels))
    if isinstance(kernel, Scaled):
        return Scaled(kernel.factor, with_factors(kernel.kernel, factors))
    return kernel


def lengthscales(kernel: Stationary, dimension: int) -> Array:
    """One lengthscale per coordinate."""
    return np.broadcast_to(np.asarray(kernel.lengthscale, dtype=float), (dimension,))


def split(kernel: Kernel, factor: float = 1.0) -> tuple[list[tuple[float, Stationary]], list[tuple[float, Kernel]]]:
    """The stationary parts of a kernel and the others, each with its factor: their sum is the kernel."""
    if isinstance(kernel, Stationary):
        return [(factor, kernel)], []
    if isinstance(kernel, Combined):
        own, parts = kernel.combination()
        found = [split(part, factor * own) for part in parts.values()]
        return [part for some, _ in found for part in some], [part for _, some in found for part in some]
    return [], [(factor, kernel)]
