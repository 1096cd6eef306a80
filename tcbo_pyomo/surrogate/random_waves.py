"""Prior samples as sums of random waves (Rahimi and Recht 2007): f_i(x) = sum_j R_ij cos(w_j^T x - a_ij).

The features are those of `RandomFourierFeatures`; a normal weight on the cosine and one on the sine of the same
frequency make one wave with amplitude R and angle a, so that a value and its gradient need one cosine and one sine.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.surrogate.expansion import ROWS
from tcbo_pyomo.surrogate.features import RandomFourierFeatures


class RandomWaves:
    """k functions with the same frequencies and different amplitudes and angles.

    Parameters
    ----------
    features
        M features: known ones, then cosines and sines of F frequencies.
    weights
        M x k, one column per function.
    """

    def __init__(self, features: RandomFourierFeatures, weights: Array) -> None:
        known = len(features.exact)
        self.known = [(part, scale * row) for (part, scale), row in zip(features.exact, weights[:known], strict=True)]
        cosines, sines = np.split(weights[known:], 2)
        self.frequencies = features.frequencies
        self.parts = np.vstack([features.amplitudes[:, None] * cosines, features.amplitudes[:, None] * sines])
        self.amplitudes = np.ascontiguousarray((features.amplitudes[:, None] * np.hypot(cosines, sines)).T)
        self.angles = np.ascontiguousarray(np.arctan2(sines, cosines).T)

    def rough(self) -> RandomWaves:
        """The same functions in single precision: about ten times faster, errors of some 1e-6 prior deviations."""
        twin = copy(self)
        for name in ("frequencies", "parts", "amplitudes", "angles"):
            setattr(twin, name, getattr(self, name).astype(np.float32))
        return twin

    def times(self, factor: float) -> RandomWaves:
        """All functions times a factor."""
        twin = copy(self)
        twin.parts, twin.amplitudes = factor * self.parts, factor * self.amplitudes
        twin.known = [(part, factor * sizes) for part, sizes in self.known]
        return twin

    def value(self, points: Array) -> Array:
        """All functions at n points, n x k."""
        phase = self._phase(points)
        value = (np.hstack([np.cos(phase), np.sin(phase)]) @ self.parts).astype(float)
        for part, sizes in self.known:
            value += part.feature(points)[:, None] * sizes
        return value

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """Function `owner[i]` at point i: values (n) and gradients (n x d)."""
        value, gradient = np.empty(len(points)), np.empty(points.shape)
        for first in range(0, len(points), ROWS):
            rows = slice(first, first + ROWS)
            phase = self._phase(points[rows])
            phase -= self.angles[owner[rows]]
            amplitudes = self.amplitudes[owner[rows]]
            sines = np.sin(phase)
            sines *= amplitudes
            gradient[rows] = -(sines @ self.frequencies)
            value[rows] = np.einsum("nf,nf->n", np.cos(phase, out=phase), amplitudes)
        for part, sizes in self.known:
            value += sizes[owner] * part.feature(points)
            gradient += sizes[owner][:, None] * part.feature_gradient(points)
        return value, gradient

    def _phase(self, points: Array) -> Array:
        """w_j^T x of n points, n x F."""
        return points.astype(self.frequencies.dtype) @ self.frequencies.T
