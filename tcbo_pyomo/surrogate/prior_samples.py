"""Samples of the prior, as functions with gradients.

Nystroem features carry the prior of a smooth kernel in few dimensions almost without error, but always give too
little variance; random waves have the right variance everywhere in any dimension, and covariances with errors of
about 1/sqrt(M). Squared exponential, M = min(2^(5 + d), 512): the largest share of the prior variance that Nystroem
features miss is 2e-4 in 2-D (lengthscale 0.15), 0.3 in 3-D (0.14), 0.9 in 4-D (0.14) and 0.98 in 6-D (0.22). Hence
waves, unless the features are good.
"""

from __future__ import annotations

import logging
from functools import cached_property

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.expansion import KernelExpansion
from tcbo_pyomo.surrogate.features import RandomFourierFeatures, box_pool, default_number, nystroem_projection
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.nystroem_posterior import inducing_points
from tcbo_pyomo.surrogate.random_waves import RandomWaves

WAVE_FEATURES = 1024
LARGEST_MISSING_SHARE = 1e-2

logger = logging.getLogger(__name__)


class PriorSampler:
    """Draws functions from the prior of `kernel` on [-0.5, 0.5]^d, without its mean."""

    def __init__(self, kernel: Kernel, dimension: int) -> None:
        self.kernel, self.dimension = kernel, dimension

    def __call__(self, count: int, generator: np.random.Generator) -> KernelExpansion | RandomWaves:
        """Draw `count` functions."""
        if self._missing_share > LARGEST_MISSING_SHARE:
            try:
                features = RandomFourierFeatures(self.kernel, self.dimension, WAVE_FEATURES, generator)
            except BadInput:
                logger.warning(
                    "kernel '%s' has no random waves; Nystroem features miss up to %.0f %% of its variance",
                    self.kernel.registry_name(),
                    100 * self._missing_share,
                )
            else:
                return RandomWaves(features, generator.standard_normal((features.number, count)))
        weights = self._factor @ generator.standard_normal((self._factor.shape[1], count))
        return KernelExpansion(self.kernel, self._inducing, weights)

    @cached_property
    def _inducing(self) -> Array:
        return inducing_points(self.kernel, self.dimension, default_number(self.dimension))

    @cached_property
    def _factor(self) -> Array:
        return nystroem_projection(self.kernel, self._inducing)

    @cached_property
    def _missing_share(self) -> float:
        """The largest share of the prior variance that the Nystroem features miss at points of the box."""
        pool = box_pool(self.dimension, np.random.default_rng(1))
        features = self.kernel(pool, self._inducing) @ self._factor
        prior = self.kernel.diagonal(pool)
        return float((1.0 - (features**2).sum(axis=1) / np.maximum(prior, np.finfo(float).tiny)).max())
