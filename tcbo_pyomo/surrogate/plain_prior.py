"""A prior from plain answers: what an engineer knows about the output before the first experiment.

In which range will the results lie? How much does a repeated measurement scatter? And, where that is known: how far must one go
in an input until the answer changes character? From the range [low, high] of width R follow a level that is unknown within
R / 6 around the middle, and deviations from it with a standard deviation of R / 4: generous, since too small a variance strands
a campaign on the first hill and too large a one costs little. Lengthscales are 0.3 of each axis unless a distance is given.
Both are starts: `surrogate.fit: learn`, the default without a kernel, learns lengthscales and noise from the results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import NUMBERS, Coordinate, coordinate_index
from tcbo_pyomo.surrogate.kernel_factors import Spreads
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum
from tcbo_pyomo.surrogate.output_scale import LogScale, OutputScale

LEVEL_SHARE, DEVIATION_SHARE = 1.0 / 6.0, 1.0 / 4.0
"""Of the range: standard deviations of the level and of the deviations from it."""
LENGTHSCALE = 0.3
"""Share of an axis over which the answer changes character, where nobody says more."""
GUESSED_SPREAD, GIVEN_SPREAD = 0.7, 0.4
"""Of the logarithm of a lengthscale that was guessed, or follows from a distance that was given."""
UNKNOWN_NOISE_SHARE = 0.02
"""Of the range: the first guess of the standard deviation of a measurement that nobody knows."""
KNOWN_NOISE_SPREAD, UNKNOWN_NOISE_SPREAD = 0.3, 2.0
"""Of the logarithm of the noise variance."""


@dataclass(frozen=True)
class PlainPrior:
    """What is known about the output, in its own unit.

    Parameters
    ----------
    range
        (low, high): the range of results you expect over the whole search space. Too wide is better than too narrow.
    measurement_sd
        Standard deviation of a repeated measurement; None if unknown: the model learns it.
    changes_within
        `{coordinate: distance}` in engineering units: the change of an input that changes the output markedly. Default:
        0.3 of its axis.
    positive
        The output is positive and skewed: model its logarithm. The lower end of the range is then the smallest value that
        matters; smaller results count as equal to it.
    """

    range: tuple[float, float]
    measurement_sd: float | None = None
    changes_within: Mapping[str, float] = field(default_factory=dict)
    positive: bool = False

    def __post_init__(self) -> None:
        ends = tuple(self.range) if isinstance(self.range, (tuple, list)) else ()
        if len(ends) != 2 or not all(_is_finite(end) for end in ends) or ends[0] >= ends[1]:
            raise BadInput(f"prior: range {self.range!r} must be two finite numbers, the lower one first, such as (0, 100)")
        if self.positive and ends[0] <= 0:
            raise BadInput(f"prior: range {self.range!r} of a positive output must start above zero, at the least useful value")
        sd = self.measurement_sd
        if sd is not None and not (_is_finite(sd) and sd > 0):
            raise BadInput(f"prior: measurement_sd {sd!r} must be a positive number, or None where it is unknown")
        for name, distance in self.changes_within.items():
            if not (_is_finite(distance) and distance > 0):
                raise BadInput(f"prior: changes_within of '{name}': {distance!r} must be a positive distance in its unit")
        object.__setattr__(self, "range", (float(ends[0]), float(ends[1])))
        object.__setattr__(self, "changes_within", dict(self.changes_within))

    @property
    def noise_variance(self) -> float:
        """Of a measurement, in the unit of the output; a guess where it is unknown."""
        low, high = self.range
        guess = UNKNOWN_NOISE_SHARE * (math.sqrt(low * high) * math.log(high / low) if self.positive else high - low)
        return (guess if self.measurement_sd is None else self.measurement_sd) ** 2

    @property
    def scale(self) -> OutputScale:
        """On which scale the output is modelled."""
        return LogScale.of_range(*self.range) if self.positive else OutputScale()

    @property
    def modelled_range(self) -> tuple[float, float]:
        """The range on the modelled scale."""
        low, high = self.range
        return self.scale.modelled(low), self.scale.modelled(high)

    def kernel(self, coordinates: Sequence[Coordinate]) -> Sum:
        """Covariance and mean that follow from the answers, on the modelled scale."""
        low, high = self.modelled_range
        width = high - low
        deviations = SquaredExponential((DEVIATION_SHARE * width) ** 2, self._lengthscales(coordinates))
        return Sum((deviations, Constant(0.5 * (low + high), (LEVEL_SHARE * width) ** 2)))

    def spreads(self, coordinates: Sequence[Coordinate]) -> Spreads:
        """How surely lengthscales and noise are known; the variance follows from the range and is kept."""
        lengths = tuple(GIVEN_SPREAD if c.name in self.changes_within else GUESSED_SPREAD for c in coordinates)
        noise = UNKNOWN_NOISE_SPREAD if self.measurement_sd is None else KNOWN_NOISE_SPREAD
        return Spreads(lengths, 0.0, noise)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `PlainPrior(**data)` gives it back."""
        return {**asdict(self), "range": list(self.range)}

    def _lengthscales(self, coordinates: Sequence[Coordinate]) -> tuple[float, ...]:
        for name in self.changes_within:
            coordinate_index(coordinates, name)
        return tuple(self.changes_within.get(c.name, LENGTHSCALE * c.width) / c.width for c in coordinates)


def _is_finite(number: Any) -> bool:
    return isinstance(number, NUMBERS) and not isinstance(number, bool) and math.isfinite(number)
