"""Truths drawn from the model: a plant whose black box is one of the functions that its kernel holds for possible.

One known function says how a method does on that function. Functions drawn from the prior say how it does on the plant,
with its moves, limits and noise, as long as the model is right; they also rehearse a plant whose truth nobody knows yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate, scaled
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.surrogate.continuous_belief import ContinuousSurrogate
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples
from tcbo_pyomo.surrogate.prior_samples import PriorSampler

STREAM = 3
"""Of the seed: the campaign's own chance and the noise of the plant are other streams."""
LARGEST_MATRIX = 1500
"""States up to which the covariance of all of them is factorised; beyond, features stand for the kernel."""


def with_drawn_truth(problem: ProblemProtocol, seed: int) -> ProblemProtocol:
    """The problem with a truth drawn from its prior, the same for every method and all settings."""
    generator = np.random.default_rng(np.random.SeedSequence([seed, STREAM]))
    if isinstance(problem, Problem):
        return problem.changed(truth=_values(problem.kernel, problem.process.scaled_states, generator))
    assert isinstance(problem, ContinuousProblem)
    dimension = len(problem.coordinates)
    drawn = ContinuousSurrogate(problem.kernel, dimension).samples(1, generator)
    best = global_maxima(drawn, dimension, problem.allowed, along_edges=True)
    return problem.changed(truth=DrawnFunction(drawn, problem.coordinates), maximum=float(best.values[0]))


def _values(kernel: Kernel, points: Array, generator: np.random.Generator) -> Array:
    """One function of the prior at n points."""
    mean = kernel.mean(points)
    if len(points) > LARGEST_MATRIX:
        return mean + PriorSampler(kernel, points.shape[1])(1, generator).value(points)[:, 0]
    # The symmetric root: unlike a triangular one it exists for a singular matrix, and unlike eigenvectors it has no sign.
    variance, vectors = np.linalg.eigh(kernel(points, points))
    normal = vectors.T @ generator.standard_normal(len(points))
    return np.asarray(mean + vectors @ (np.sqrt(np.maximum(variance, 0.0)) * normal))


@dataclass(frozen=True)
class DrawnFunction:
    """A drawn function of points in engineering units."""

    drawn: PosteriorSamples
    coordinates: tuple[Coordinate, ...]

    def __call__(self, points: Array) -> Array:
        """Its values at n points (n x d)."""
        return self.drawn.value(scaled(self.coordinates, np.asarray(points, dtype=float)))[:, 0]
