"""How much of an answer is mechanism and how much is residual, and what the results say about the mechanism's parameters.

A kernel is a sum of independent parts, f = f_1 + f_2 + ...; given results the posterior of each part, and of the weights of a
part with known features, follows from its covariance with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.combined import Combined
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.known_features import KnownFeatures
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.sum import Sum


def parts_of(kernel: Kernel, factor: float = 1.0) -> list[tuple[float, Kernel]]:
    """The kernels whose sum a kernel is, each with its factor."""
    if isinstance(kernel, Combined):
        own, parts = kernel.combination()
        return [found for part in parts.values() for found in parts_of(part, factor * own)]
    return [(factor, kernel)]


def known_parts(kernel: Kernel) -> list[tuple[float, KnownFeatures]]:
    """The parts that know the shape of the answer: mechanisms, and single features such as the Knorr kernel's."""
    found = [(factor, part) for factor, part in parts_of(kernel) if isinstance(part, KnownFeatures)]
    return [(factor, part) for factor, part in found if not isinstance(part, Constant)]


@dataclass(frozen=True)
class Contribution:
    """What one part of the kernel adds to the answer at n points: posterior means and standard deviations (n each)."""

    mean: Array
    deviation: Array


def contributions(
    parts: Sequence[Kernel], points: Array, values: Array, noise_variances: Array, at: Array
) -> list[Contribution]:
    """The posterior of each part at n points (n x d), from results at `points`; the means add up to the posterior mean."""
    whole = Sum(tuple(parts))
    matrix = whole(points, points) + np.diag(noise_variances)
    surprise = np.linalg.solve(matrix, values - whole.mean(points))
    found = []
    for part in parts:
        cross = part(at, points)
        explained = np.einsum("nm,mn->n", cross, np.linalg.solve(matrix, cross.T))
        deviation = np.sqrt(np.maximum(part.diagonal(at) - explained, 0.0))
        found.append(Contribution(part.mean(at) + cross @ surprise, deviation))
    return found


def mechanism_and_residual(
    kernel: Kernel, points: Array, values: Array, noise_variances: Array, at: Array
) -> tuple[Contribution, Contribution] | None:
    """What the known parts say at n points, and what all others add; None for a kernel that knows no shape."""
    known = known_parts(kernel)
    rest = [Scaled(factor, part) for factor, part in parts_of(kernel) if all(part is not one for _, one in known)]
    if not known:
        return None
    groups = [Sum(tuple(Scaled(factor, part) for factor, part in known)), *([Sum(tuple(rest))] if rest else [])]
    found = contributions(groups, points, values, noise_variances, at)
    nothing = Contribution(np.zeros(len(at)), np.zeros(len(at)))
    return found[0], found[1] if rest else nothing


def weight_posterior(
    parts: Sequence[tuple[float, KnownFeatures]], kernel: Kernel, points: Array, values: Array, noise_variances: Array
) -> list[tuple[Array, Array]]:
    """Mean (p) and covariance (p x p) of the weights of some parts of a kernel, with their factors."""
    matrix = kernel(points, points) + np.diag(noise_variances)
    surprise = np.linalg.solve(matrix, values - kernel.mean(points))
    found = []
    for factor, part in parts:
        size, features, covariance = math.sqrt(factor), part.features(points), part.weight_covariance
        mean = np.array(list(part.weights.values())) + size * covariance @ (features.T @ surprise)
        cross = size * features @ covariance
        found.append((mean, covariance - cross.T @ np.linalg.solve(matrix, cross)))
    return found
