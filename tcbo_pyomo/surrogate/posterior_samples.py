"""Samples of the posterior: functions that can be followed uphill (appendix "Approximating the set of maximizers")."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.surrogate.expansion import KernelExpansion
from tcbo_pyomo.surrogate.random_waves import RandomWaves


class PosteriorSamples:
    """k functions: the prior mean, a kernel expansion, and for exact posteriors a sample of the prior.

    Parameters
    ----------
    expansion
        Kernels centred at the data (exact) or at the inducing points (Nystroem).
    prior
        Samples of the prior that the expansion corrects.
    """

    def __init__(self, expansion: KernelExpansion, prior: KernelExpansion | RandomWaves | None = None) -> None:
        self.kernel = expansion.kernel
        if isinstance(prior, KernelExpansion):
            expansion = _joined(expansion, prior)
        self.expansion = expansion
        self.waves = prior if isinstance(prior, RandomWaves) else None

    @property
    def count(self) -> int:
        """k, the number of functions."""
        return self.expansion.count

    def rough(self) -> PosteriorSamples:
        """The same functions, to be evaluated faster and with errors of some 1e-6: for the first part of a search."""
        return PosteriorSamples(self.expansion, self.waves.rough()) if self.waves is not None else self

    def value(self, points: Array) -> Array:
        """All functions at n points, n x k."""
        value = self.kernel.mean(points)[:, None] + self.expansion.value(points)
        return value if self.waves is None else value + self.waves.value(points)

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """Function `owner[i]` at point i: values (n) and gradients (n x d)."""
        value, gradient = self.expansion.value_and_gradient(points, owner)
        if self.waves is not None:
            wave, slope = self.waves.value_and_gradient(points, owner)
            value, gradient = value + wave, gradient + slope
        return value + self.kernel.mean(points), gradient + self.kernel.mean_gradient(points)


def _joined(first: KernelExpansion, second: KernelExpansion) -> KernelExpansion:
    """The sum of two expansions of the same kernel, function by function."""
    centers = np.vstack([first.centers, second.centers])
    return KernelExpansion(first.kernel, centers, np.vstack([first.weights, second.weights]))
