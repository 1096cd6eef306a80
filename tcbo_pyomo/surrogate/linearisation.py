"""Where a mechanism is linearised: at the parameters that are most probable given the results told (Gauss-Newton).

A pure function of the declared kernel and the results in the order told: computed again anywhere it gives the same. Results
count in steps: each of the first ten, then whenever they have grown by a tenth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.combined import Combined
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.mechanism import Mechanism
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.sum import Sum

MOST_STEPS, MOST_HALVINGS = 30, 12
CLOSE = 1e-3
"""Prior standard deviations: a step of all parameters below this ends the search."""


def linearised_from(results: int) -> int:
    """How many results the present linearisation follows from: 0, 1, ..., 20, 22, 24, ..."""
    used = 0
    while used + max(1, used // 10) <= results:
        used += max(1, used // 10)
    return used


def parts_of(kernel: Kernel, factor: float = 1.0) -> list[tuple[float, Kernel]]:
    """The kernels whose sum a kernel is, each with its factor."""
    if isinstance(kernel, Combined):
        own, parts = kernel.combination()
        return [found for part in parts.values() for found in parts_of(part, factor * own)]
    return [(factor, kernel)]


def has_mechanism(kernel: Kernel) -> bool:
    """Whether some part of a kernel is a mechanism."""
    return any(isinstance(part, Mechanism) for _, part in parts_of(kernel))


def relinearised(kernel: Kernel, points: Array, values: Array, noise_variances: Array) -> Kernel:
    """The kernel with its mechanisms linearised where n results say (n x d scaled points, n values, n noise variances)."""
    used = linearised_from(len(values))
    current = _moved(kernel, None)
    if used == 0 or not has_mechanism(kernel):
        return current
    data = points[:used], values[:used], noise_variances[:used]
    cost = _cost(current, *data)
    for _ in range(MOST_STEPS):
        here, there = _linearisations(current), _posterior_means(current, *data)
        for halving in range(MOST_HALVINGS):
            share = 0.5**halving
            proposed = _moved(current, [a + share * (b - a) for a, b in zip(here, there, strict=True)])
            try:
                found = _cost(proposed, *data)
            except (BadInput, np.linalg.LinAlgError):
                found = math.inf
            if found <= cost:
                break
        else:
            return current
        moved = _largest_step(current, proposed)
        current, cost = proposed, found
        if moved < CLOSE:
            return current
    return current


@dataclass(frozen=True)
class Contribution:
    """What one part of the kernel adds to the answer at one point: posterior mean and standard deviation."""

    kernel: Kernel
    mean: float
    deviation: float


def contributions(kernel: Kernel, points: Array, values: Array, noise_variances: Array, at: Array) -> list[Contribution]:
    """The parts of the posterior mean at one point (1 x d); their sum is the posterior mean."""
    matrix = kernel(points, points) + np.diag(noise_variances) if len(values) else None
    found = []
    for size, part in parts_of(kernel):
        mean, variance = math.sqrt(size) * float(part.mean(at)[0]), size * float(part.diagonal(at)[0])
        if matrix is not None:
            cross = size * part(points, at)[:, 0]
            mean += float(cross @ np.linalg.solve(matrix, values - kernel.mean(points)))
            variance -= float(cross @ np.linalg.solve(matrix, cross))
        found.append(Contribution(part, mean, math.sqrt(max(variance, 0.0))))
    return found


def parameter_posterior(kernel: Kernel, points: Array, values: Array, noise_variances: Array) -> list[tuple[Array, Array]]:
    """Mean (p) and covariance (p x p) of the parameters of each mechanism, as it is linearised."""
    means = _posterior_means(kernel, points, values, noise_variances)
    matrix = kernel(points, points) + np.diag(noise_variances) if len(values) else None
    found = []
    for (size, part), mean in zip(_mechanisms(kernel), means, strict=True):
        covariance = part.weight_covariance
        if matrix is not None:
            cross = math.sqrt(size) * part.features(points) @ covariance
            covariance = covariance - cross.T @ np.linalg.solve(matrix, cross)
        found.append((mean, covariance))
    return found


def _mechanisms(kernel: Kernel) -> list[tuple[float, Mechanism]]:
    return [(factor, part) for factor, part in parts_of(kernel) if isinstance(part, Mechanism)]


def _linearisations(kernel: Kernel) -> list[Array]:
    return [part.linearisation for _, part in _mechanisms(kernel)]


def _posterior_means(kernel: Kernel, points: Array, values: Array, noise_variances: Array) -> list[Array]:
    """The posterior mean of the parameters of each mechanism, as it is linearised."""
    if not len(values):
        return [np.array(part.theta) for _, part in _mechanisms(kernel)]
    matrix = kernel(points, points) + np.diag(noise_variances)
    weights = np.linalg.solve(matrix, values - kernel.mean(points))
    return [
        np.array(part.theta) + math.sqrt(factor) * part.weight_covariance @ (part.features(points).T @ weights)
        for factor, part in _mechanisms(kernel)
    ]


def _cost(kernel: Kernel, points: Array, values: Array, noise_variances: Array) -> float:
    """Twice the negative logarithm of the posterior density of the parameters at which a kernel is linearised."""
    matrix, cost, expected = np.diag(noise_variances), 0.0, np.zeros(len(values))
    for factor, part in parts_of(kernel):
        if isinstance(part, Mechanism):
            offset = part.linearisation - np.array(part.theta)
            cost += float(offset @ np.linalg.pinv(part.weight_covariance, hermitian=True) @ offset)
            expected += math.sqrt(factor) * (part.mean(points) + part.features(points) @ offset)
        else:
            matrix = matrix + factor * part(points, points)
            expected += math.sqrt(factor) * part.mean(points)
    return cost + float((values - expected) @ np.linalg.solve(matrix, values - expected))


def _largest_step(old: Kernel, new: Kernel) -> float:
    """Between two linearisations, in prior standard deviations."""
    parts = zip(_mechanisms(old), _mechanisms(new), strict=True)
    steps = [
        np.abs(b.linearisation - a.linearisation) / np.maximum(np.sqrt(np.diag(a.weight_covariance)), 1e-300)
        for (_, a), (_, b) in parts
    ]
    return float(reduce(max, (step.max() for step in steps)))


def _moved(kernel: Kernel, places: list[Array] | None) -> Kernel:
    """The kernel with its mechanisms linearised elsewhere, in their order; None for their estimates."""
    if isinstance(kernel, Mechanism):
        return kernel.at(() if places is None else places.pop(0).tolist())
    if isinstance(kernel, Sum):
        return Sum(tuple(_moved(part, places) for part in kernel.kernels))
    return Scaled(kernel.factor, _moved(kernel.kernel, places)) if isinstance(kernel, Scaled) else kernel
