"""Models that may be the right one: hyper-parameters drawn with the uncertainty that is left after learning."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tcbo_pyomo.surrogate.kernel_factors import Factors, Learned, with_factors
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


def drawn_models(
    kernel: Kernel, learned: Learned, count: int, generator: np.random.Generator
) -> Iterator[tuple[Kernel, float]]:
    """Kernels and factors on the declared noise variances.

    The logarithms of the factors are normal around what was learned, with the spreads that learning left. The variance is
    learned upwards only, and never drawn below what was declared.

    Parameters
    ----------
    kernel
        What was declared.
    learned
        The factors on it.
    count
        How many.
    generator
        Draws them.
    """
    factors, spread = learned.factors, learned.uncertainty
    center = np.log([*factors.lengthscales, factors.variance, factors.noise])
    width = np.array([*spread.lengthscales, spread.variance, spread.noise])
    for normal in generator.standard_normal((count, len(center))):
        *lengths, variance, noise = np.exp(center + width * normal).tolist()
        drawn = Factors(tuple(lengths), max(variance, 1.0), noise)
        yield with_factors(kernel, drawn), noise
