"""The goal of an output that is to be at a value: its score is minus the distance, |y - t|.

The Gaussian process models y, not the distance, whose kink no smooth prior knows. What is expected of the distance follows from
what is expected of y above a level, c(k) = E[(y - k)+], which has a closed form (`OutputScale.excess`):

    E|y - t|                 = 2 c(t) - (E[y] - t),
    E[(D - |y - t|)+]        = c(t - D) - 2 c(t) + c(t + D)           (expected improvement on a distance D),
    E[(|y* - t| - |y - t|)+] = E[(y - y*)+] - 2 c(t) + E[(y + y* - 2 t)+],

the last because c(t - D) + c(t + D) is the same for D and -D, so that |y* - t| may stand there without its bars.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.wording import with_unit
from tcbo_pyomo.surrogate.goal import Goal, Slopes
from tcbo_pyomo.surrogate.likely_rivals import chance_above
from tcbo_pyomo.surrogate.output_scale import OutputScale
from tcbo_pyomo.surrogate.rivals import Rivals


@dataclass(frozen=True)
class Target(Goal):
    """The closer to a value the better.

    Attributes
    ----------
    value
        The target, in the unit of the output.
    scale
        On which scale the values are that it is asked about.
    """

    name: ClassVar[str] = "target"
    better: ClassVar[str] = "closer to the target than"
    worse: ClassVar[str] = "farther from the target than"
    first_incumbent: ClassVar[float | None] = None
    exact_chances: ClassVar[bool] = False

    value: float
    scale: OutputScale = field(default_factory=OutputScale)

    def on(self, scale: OutputScale) -> Target:
        """The same target for values on a scale."""
        return Target(self.value, scale)

    @property
    def _modelled(self) -> float:
        return self.scale.modelled(self.value)

    def score(self, values: Any) -> Any:
        """Minus the distance, in the unit of the output."""
        return -np.abs(self.scale.output(values) - self.value)

    def smooth_score(self, values: Array) -> tuple[Array, Array]:
        """Minus the squared distance as modelled: it has the same maximum on a connected set, and no kink there."""
        away = values - self._modelled
        return -away * away, -2.0 * away

    def band(self, mean: Array, spread: Array) -> tuple[Array, Array]:
        """The farthest end of the interval, and the nearest one, or nothing where the target lies between them."""
        ends = [self.score(end) for end in (mean - spread, mean + spread)]
        between = np.abs(mean - self._modelled) <= spread
        return np.minimum(*ends), np.where(between, 0.0, np.maximum(*ends))

    def expected(self, mean: Array, deviation: Array) -> Array:
        """Minus the expected distance."""
        return (self.scale.measured(mean, deviation)[0] - self.value) - 2.0 * self._above(mean, deviation, self.value)

    def expected_slopes(self, mean: Array, deviation: Array) -> Slopes:
        """Derivatives of minus the expected distance."""
        whole, part = (self.scale.excess_slopes(mean, deviation, level) for level in (-np.inf, self.value))
        return whole[0] - 2.0 * part[0], whole[1] - 2.0 * part[1]

    def optimistic(self, mean: Array, deviation: Array, width: Any) -> Array:
        """So many standard deviations less than the expected distance, as modelled; beyond zero the less is known the better.

        Where the band holds the target, a distance that is cut at zero would say nothing; this is the straddle of Bryan et al.
        (2005) without its kink, for |mean - t| is the expected distance where the sign of f - t is certain.
        """
        plain = Target(self._modelled)
        return np.asarray(plain.expected(mean, deviation) + width * deviation)

    def optimistic_slopes(self, mean: Array, deviation: Array, width: Any) -> Slopes:
        """Derivatives of the optimistic score."""
        by_mean, by_deviation = Target(self._modelled).expected_slopes(mean, deviation)
        return by_mean, by_deviation + width

    def improvement(self, mean: Array, deviation: Array, incumbent: Any) -> Array:
        """How much closer than the incumbent's distance a value is expected to come."""
        ends = (self._above(mean, deviation, self.value + incumbent), self._above(mean, deviation, self.value - incumbent))
        return np.maximum(ends[0] + ends[1] - 2.0 * self._above(mean, deviation, self.value), 0.0)

    def improvement_slopes(self, mean: Array, deviation: Array, incumbent: Any) -> Slopes:
        """Derivatives of the expected improvement."""
        levels = (self.value + incumbent, self.value, self.value - incumbent)
        near, middle, far = (self.scale.excess_slopes(mean, deviation, level) for level in levels)
        return near[0] - 2.0 * middle[0] + far[0], near[1] - 2.0 * middle[1] + far[1]

    def chances(self, rivals: Rivals, tolerance: float) -> Array:
        """Bounds of P(|f(z) - t| < |f(z*) - t|), as modelled.

        With D = f(z) - f(z*) and S = f(z) + f(z*) - 2 t it is P(D S < 0) = P(D > 0, S < 0) + P(D < 0, S > 0), and each of
        the two is at most the smaller one of its own two probabilities.
        """
        both = np.sqrt(np.maximum(rivals.variance + rivals.best_variance + 2.0 * rivals.covariance, 0.0))
        above = chance_above(rivals.mean - rivals.best_mean, rivals.deviation)
        beyond = chance_above(rivals.mean + rivals.best_mean - 2.0 * self._modelled, both)
        return np.minimum(1.0, np.minimum(above, 1.0 - beyond) + np.minimum(1.0 - above, beyond))

    def missed(self, rivals: Rivals) -> tuple[Array, Array]:
        """How much closer than the recommended place each rival is expected to be, counted where it is closer.

        In place of its slope in the standard deviation the one along which it goes with the variance: all of it with all of the
        variance. The slope itself is of no use: the less is known about a rival, the less likely it hits a narrow target, so
        that a little more knowledge may raise what is expected to be missed. All knowledge takes it away.
        """
        apart = self.scale.excess_of_two(rivals, -1.0, 0.0)
        together = self.scale.excess_of_two(rivals, 1.0, 2.0 * self.value)
        above = self._above(rivals.mean, np.sqrt(np.maximum(rivals.variance, 0.0)), self.value)
        learnable = rivals.deviation > 0.0
        missed = np.where(learnable, np.maximum(apart + together - 2.0 * above, 0.0), 0.0)
        return missed, 2.0 * missed / np.where(learnable, rivals.deviation, 1.0)

    @property
    def data(self) -> Any:
        """As settings and files have it."""
        return {"target": self.value}

    def adjective(self, unit: str = "") -> str:
        """Closest to the target."""
        return f"closest to {with_unit(self.value, unit)}"

    def in_words(self, output: str, unit: str = "") -> str:
        """The output, closest to the target."""
        return f"{output} {self.adjective(unit)}"

    def noun(self, unit: str = "") -> str:
        """The value closest to the target."""
        return f"value {self.adjective(unit)}"

    def regret_words(self, unit: str = "") -> str:
        """What regret is a difference of: distances, not values."""
        return f"Regret of the recommendation: how much farther from {with_unit(self.value, unit)} than the best"

    def bound_words(self, width: float, unit: str = "") -> str:
        """An optimistic distance."""
        return f"smallest optimistic distance from {with_unit(self.value, unit)} (expected distance - {width:g} sd)"

    def _above(self, mean: Array, deviation: Array, level: Any) -> Array:
        return self.scale.excess(mean, deviation, level)
