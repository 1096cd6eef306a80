"""Truths drawn from the model: a plant whose black box is one of the functions that its kernel holds for possible.

One known function says how a method does on that function. Functions drawn from the prior say how it does on the plant,
with its moves, limits and noise, as long as the model is right; they also rehearse a plant whose truth nobody knows yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate, scaled
from tcbo_pyomo.surrogate.acquisition import Scored
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.output_scale import OutputScale
from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples
from tcbo_pyomo.surrogate.prior_samples import PriorSampler

AS_MEASURED = OutputScale()
LARGEST_MATRIX = 1500
"""States up to which the covariance of all of them is factorised; beyond, features stand for the kernel."""


def drawn_function(
    kernel: Kernel,
    coordinates: tuple[Coordinate, ...],
    allowed: Allowed,
    generator: np.random.Generator,
    goal: Goal = MAXIMISE,
    scale: OutputScale = AS_MEASURED,
) -> tuple[DrawnFunction, float]:
    """One function of the prior on the box, and its best value over the allowed points, both in the unit of the output."""
    dimension = len(coordinates)
    drawn = ContinuousBelief(kernel, dimension).samples(1, generator)
    best = global_maxima(Scored(drawn, goal.on(scale)), dimension, allowed, along_edges=True)
    return DrawnFunction(drawn, coordinates, scale), float(scale.output(drawn.value(best.points)[0, 0]))


def drawn_values(kernel: Kernel, points: Array, generator: np.random.Generator) -> Array:
    """One function of the prior at n points, as it is modelled."""
    mean = kernel.mean(points)
    if len(points) > LARGEST_MATRIX:
        return mean + PriorSampler(kernel, points.shape[1])(1, generator).value(points)[:, 0]
    # The symmetric root: unlike a triangular one it exists for a singular matrix, and unlike eigenvectors it has no sign.
    variance, vectors = _eigen(np.asarray(kernel(points, points), dtype=float).tobytes(), len(points))
    normal = vectors.T @ generator.standard_normal(len(points))
    return np.asarray(mean + vectors @ (np.sqrt(np.maximum(variance, 0.0)) * normal))


@lru_cache(maxsize=1)
def _eigen(covariance: bytes, size: int) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors; the functions of a study are drawn one after the other from the same prior."""
    variance, vectors = np.linalg.eigh(np.frombuffer(covariance).reshape(size, size))
    return variance, vectors


@dataclass(frozen=True)
class DrawnFunction:
    """A drawn function of points in engineering units."""

    drawn: PosteriorSamples
    coordinates: tuple[Coordinate, ...]
    scale: OutputScale = AS_MEASURED

    def __call__(self, points: Array) -> Array:
        """Its values at n points (n x d)."""
        modelled = self.drawn.value(scaled(self.coordinates, np.asarray(points, dtype=float)))[:, 0]
        return np.asarray(self.scale.output(modelled))
