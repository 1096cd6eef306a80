"""When a campaign learns, from which results, and how what was learned is kept with it.

Results are counted in the order told. Learning happens after every fifth result, later after every fifth part more: so what is
believed after n results depends on the first m <= n of them alone, wherever and how often it is computed.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.surrogate.kernel_factors import Factors, Learned, Spreads, split, with_factors
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.sum import Sum

EVERY = 5
GROWTH = 5
"""After so many fives, learning waits until the results have grown by one part in so many: by then each of them says little
that is new about lengthscales, and learning takes the cube of their number."""
LENGTHSCALE_SPREAD, VARIANCE_SPREAD, NOISE_SPREAD = 0.7, 1.0, 1.0
"""Of the logarithms, around the values of a kernel that was given."""
LONGEST = 3.0
"""Factor on the lengthscales of a given kernel that is believed in the first half of a campaign."""
LEVEL_WIDTH = 3.0
"""Standard deviation of the unknown level around the mean of a given kernel, in its own standard deviations."""
CLEARLY = 3.0
"""Standard deviations of a measurement by which a result lies outside the declared range before the model believes it."""
MOST_DOUBLINGS = 10
"""Of a declared range; results a thousand times farther away have another unit."""
UNKNOWN_SHARE = 0.01
"""Of the variance: a level of a given kernel that varies by less is a mean, and no unknown level."""


def learned_from(results: int) -> int:
    """From how many results the present belief was learned: 0, 5, 10, ..., 25, 30, 36, 43, 51, ..."""
    known = 0
    while known + _step(known) <= results:
        known += _step(known)
    return known


def _step(known: int) -> int:
    return max(EVERY, known // GROWTH)


def loosened(kernel: Kernel) -> Kernel:
    """A kernel that was given, with an unknown level around its mean; as it is where it has one, or no stationary part."""
    stationary, others = split(kernel)
    own = sum(factor * part.variance for factor, part in stationary)
    levels = sum(factor * part.weight_variance for factor, part in others if isinstance(part, Constant))
    if not stationary or levels >= UNKNOWN_SHARE * own:
        return kernel
    parts = kernel.kernels if isinstance(kernel, Sum) else (kernel,)
    return Sum((*parts, Constant(0.0, LEVEL_WIDTH**2 * own)))


class Learner:
    """Learns around what was declared.

    Parameters
    ----------
    kernel, spreads
        What was declared, and how surely.
    held_until, longest
        Before so many results no lengthscale is believed to be longer than this factor times the declared one: results along
        the first path fit a long one too well, and it makes places that nobody has looked at look known.
    expected
        The range of results that was declared, as they are modelled. Where it is too narrow, the variance is too small, and a
        campaign gets stuck on the first hill; so it is doubled, around its middle, until it contains every result.
    """

    def __init__(
        self,
        kernel: Kernel,
        spreads: Spreads,
        held_until: int = 0,
        longest: float = 1.0,
        expected: tuple[float, float] | None = None,
    ) -> None:
        self.kernel, self.spreads, self.held_until, self.longest = kernel, spreads, held_until, longest
        self.expected = expected
        self._kept: dict[str, Learned] = {}

    @classmethod
    def around(cls, kernel: Kernel, dimension: int, held_until: int) -> Learner:
        """Around a kernel that was given, which may be wrong by some factor in any respect."""
        spreads = Spreads((LENGTHSCALE_SPREAD,) * dimension, VARIANCE_SPREAD, NOISE_SPREAD)
        return cls(loosened(kernel), spreads, held_until, LONGEST)

    def __call__(self, points: Array, values: Array, noise_variances: Array) -> Learned:
        """What is learned from all results told (n x d, n, n): from the first of them, as far as `learned_from` says."""
        used = learned_from(len(values))
        data = points[:used], values[:used], noise_variances[:used]
        found = self._kept.get(self._digest(*data))
        if found is not None:
            return found
        wider = Factors((1.0,) * points.shape[1], variance=4.0 ** self._doublings(*data[1:]))
        learned = _learned(with_factors(self.kernel, wider), self.spreads, *(_Hashed(part) for part in data))
        lengths = learned.factors.lengthscales
        if used < self.held_until:
            lengths = tuple(min(factor, self.longest) for factor in lengths)
        factors = replace(learned.factors, lengthscales=lengths, variance=learned.factors.variance * wider.variance)
        if factors == learned.factors:
            return learned
        return replace(learned, factors=factors, kernel=with_factors(self.kernel, factors))

    def _doublings(self, values: Array, noise_variances: Array) -> int:
        """How often the declared range has to be doubled until it contains every result that is believed."""
        believed = np.isfinite(noise_variances)
        if self.expected is None or not believed.any():
            return 0
        low, high = self.expected
        away = np.abs(values[believed] - 0.5 * (low + high)) - CLEARLY * np.sqrt(noise_variances[believed])
        beyond = float(away.max()) / (0.5 * (high - low))
        return min(MOST_DOUBLINGS, math.ceil(math.log2(beyond))) if beyond > 1.0 else 0

    @staticmethod
    def learns_at(results: int) -> bool:
        """Whether something is learned when so many results are told."""
        return learned_from(results) == results

    def state(self, learned: Learned, points: Array, values: Array, noise_variances: Array) -> dict[str, Any]:
        """What was learned from results, as plain data."""
        used = learned.results
        digest = self._digest(points[:used], values[:used], noise_variances[:used])
        return {
            "digest": digest,
            "results": used,
            "factors": asdict(learned.factors),
            "uncertainty": asdict(learned.uncertainty),
        }

    def remember(self, state: dict[str, Any]) -> None:
        """Take over what `state` returned: it holds as long as the results are the same, on any machine."""
        factors = Factors(**{**state["factors"], "lengthscales": tuple(state["factors"]["lengthscales"])})
        spread = Spreads(**{**state["uncertainty"], "lengthscales": tuple(state["uncertainty"]["lengthscales"])})
        learned = Learned(with_factors(self.kernel, factors), factors, state["results"], lambda: spread)
        self._kept = {state["digest"]: learned}

    def _digest(self, *data: Array) -> str:
        digest = hashlib.sha256(repr((self.kernel, self.spreads, self.held_until, self.longest)).encode())
        digest.update(repr(self.expected).encode())
        for part in data:
            digest.update(np.ascontiguousarray(part, dtype=float).tobytes())
        return digest.hexdigest()[:32]


class _Hashed:
    """An array that can be the key of a cache."""

    def __init__(self, array: Array) -> None:
        self.array = np.ascontiguousarray(array, dtype=float)
        self._key = self.array.shape, self.array.tobytes()

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self._key == other._key


@lru_cache(maxsize=512)
def _learned(kernel: Kernel, spreads: Spreads, points: _Hashed, values: _Hashed, noise_variances: _Hashed) -> Learned:
    """Pure, and asked for again whenever a campaign is loaded, corrected or drawn: kept while the process lives."""
    from tcbo_pyomo.surrogate import most_probable_factors  # Loads SciPy, which nobody needs who only looks.

    with one_blas_thread():
        return most_probable_factors.learn(kernel, spreads, points.array, values.array, noise_variances.array)
