"""Where a mechanism is linearised: at the parameters that are most probable given the results told (Gauss-Newton).

A pure function of the declared kernel and the results in the order told: computed again anywhere it gives the same. Results
count in steps: each of the first ten, then whenever they have grown by a tenth.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.mechanism import Mechanism
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.sum import Sum
from tcbo_pyomo.surrogate.shares import parts_of, weight_posterior

MOST_STEPS, MOST_HALVINGS = 30, 12
CLOSE = 1e-3
"""Prior standard deviations: a step of all parameters below this ends the search."""


def linearised_from(results: int) -> int:
    """How many results the present linearisation follows from: 0, 1, ..., 20, 22, 24, ..."""
    used = 0
    while used + max(1, used // 10) <= results:
        used += max(1, used // 10)
    return used


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
        here = [part.linearisation for _, part in _mechanisms(current)]
        there = [mean for mean, _ in weight_posterior(_mechanisms(current), current, *data)]
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


def _mechanisms(kernel: Kernel) -> list[tuple[float, Mechanism]]:
    return [(factor, part) for factor, part in parts_of(kernel) if isinstance(part, Mechanism)]


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
