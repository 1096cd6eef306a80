"""Random Fourier features (Rahimi and Recht 2007; section "Utility with kernel embeddings").

A stationary kernel is the Fourier transform of its spectral density (Bochner): with frequencies w_j drawn so

    k(x, x') ~ (variance / F) sum_j cos(w_j^T (x - x')) = phi(x)^T phi(x'),
    phi(x) = sqrt(variance / F) (cos w_1^T x, ..., cos w_F^T x, sin w_1^T x, ..., sin w_F^T x).

Cosine and sine in pairs keep the prior variance exact at every point; the error of the covariances falls like
1 / sqrt(F). Kernels of one known feature contribute that feature as it is.
"""

from __future__ import annotations

import math

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.combined import Combined
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature
from tcbo_pyomo.surrogate.kernels.stationary import Stationary


class RandomFourierFeatures:
    """Features of any points for sums and multiples of stationary and single-feature kernels.

    Parameters
    ----------
    kernel
        The kernel to approximate.
    dimension
        Number of coordinates d of a point.
    number
        Upper limit of the number of features M.
    generator
        Source of the frequencies.
    """

    def __init__(self, kernel: Kernel, dimension: int, number: int, generator: np.random.Generator) -> None:
        self.exact: list[tuple[SingleFeature, float]] = []
        waves: list[tuple[Stationary, float]] = []
        for part, factor in _terms(kernel, 1.0):
            if isinstance(part, SingleFeature):
                self.exact.append((part, math.sqrt(factor * part.weight_variance)))
            else:
                waves.append((part, factor * part.variance))
        counts = _shares([variance for _, variance in waves], (number - len(self.exact)) // 2)
        self.frequencies = np.empty((0, dimension))
        self.amplitudes = np.empty(0)
        for (part, variance), count in zip(waves, counts, strict=True):
            drawn = part.frequencies(generator, count, dimension)
            self.frequencies = np.vstack([self.frequencies, drawn])
            self.amplitudes = np.append(self.amplitudes, np.full(count, math.sqrt(variance / count)))
        self.number = len(self.exact) + 2 * len(self.frequencies)

    def __call__(self, points: Array) -> Array:
        """Phi, n x M."""
        exact = [scale * part.feature(points)[:, None] for part, scale in self.exact]
        phase = points @ self.frequencies.T
        return np.hstack([*exact, self.amplitudes * np.cos(phase), self.amplitudes * np.sin(phase)])


def _terms(kernel: Kernel, factor: float) -> list[tuple[Stationary | SingleFeature, float]]:
    """The kernel as a list of parts with their factors; k is the sum of factor * part."""
    if isinstance(kernel, Combined):
        own, parts = kernel.combination()
        return [term for part in parts.values() for term in _terms(part, factor * own)]
    if isinstance(kernel, (Stationary, SingleFeature)):
        return [(kernel, factor)]
    name = kernel.registry_name()
    raise BadInput(f"kernel '{name}' has no random Fourier features; use features 'exact' or 'nystroem'")


def _shares(variances: list[float], number: int) -> list[int]:
    """Split `number` frequencies in proportion to the variances (for the least error), at least one each."""
    if number < len(variances):
        raise BadInput(
            f"random Fourier features: {number} pair(s) for {len(variances)} stationary kernel(s); "
            "give two features for each of them and one for each known feature, or more"
        )
    if not variances:
        return []
    spare = number - len(variances)
    counts = [1 + math.floor(spare * variance / sum(variances)) for variance in variances]
    counts[int(np.argmax(variances))] += number - sum(counts)
    return counts
