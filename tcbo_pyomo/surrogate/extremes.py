"""The goals of a largest and of a smallest output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.goal import Goal, Slopes
from tcbo_pyomo.surrogate.improvement import density, distribution, expected_improvement, improvement_and_slope
from tcbo_pyomo.surrogate.likely_rivals import chance_above
from tcbo_pyomo.surrogate.rivals import Rivals


@dataclass(frozen=True)
class Maximise(Goal):
    """The larger the better: the score is the value. The default."""

    name: ClassVar[str] = "maximise"
    better: ClassVar[str] = "above"
    worse: ClassVar[str] = "below"

    def score(self, values: Any) -> Any:
        """The value."""
        return values

    def smooth_score(self, values: Array) -> tuple[Array, Array]:
        """The value."""
        return values, np.ones_like(values)

    def band(self, mean: Array, spread: Array) -> tuple[Array, Array]:
        """The ends of the interval."""
        return mean - spread, mean + spread

    def expected(self, mean: Array, deviation: Array) -> Array:
        """The mean."""
        return mean

    def expected_slopes(self, mean: Array, deviation: Array) -> Slopes:
        """1 and 0."""
        return 1.0, 0.0

    def optimistic(self, mean: Array, deviation: Array, width: Any) -> Array:
        """The mean and so many standard deviations."""
        return np.asarray(mean + width * deviation)

    def optimistic_slopes(self, mean: Array, deviation: Array, width: Any) -> Slopes:
        """1 and the width."""
        return 1.0, width

    def improvement(self, mean: Array, deviation: Array, incumbent: Any) -> Array:
        """Expected Improvement."""
        return expected_improvement(mean, deviation, incumbent)

    def improvement_slopes(self, mean: Array, deviation: Array, incumbent: Any) -> Slopes:
        """Phi(u) and phi(u)."""
        u = (mean - incumbent) / deviation
        return distribution(u), density(u)

    def missed(self, rivals: Rivals) -> tuple[Array, Array]:
        """E[(f(z) - f(z*))+], and phi(u)."""
        return improvement_and_slope(rivals.mean - rivals.best_mean, rivals.deviation)

    def chances(self, rivals: Rivals, tolerance: float) -> Array:
        """P(f(z) - f(z*) > tolerance)."""
        return chance_above(rivals.mean - rivals.best_mean - tolerance, rivals.deviation)

    def adjective(self, unit: str = "") -> str:
        """Largest."""
        return "largest"

    def noun(self, unit: str = "") -> str:
        """Maximum."""
        return "maximum"

    def bound_words(self, width: float, unit: str = "") -> str:
        """An upper confidence bound."""
        return f"largest upper confidence bound (mean + {width:g} sd)"


@dataclass(frozen=True)
class Minimise(Maximise):
    """The smaller the better: as `Maximise`, with every value mirrored."""

    name: ClassVar[str] = "minimise"
    sign: ClassVar[float] = -1.0
    better: ClassVar[str] = "below"
    worse: ClassVar[str] = "above"

    def score(self, values: Any) -> Any:
        """Minus the value."""
        return -values

    def smooth_score(self, values: Array) -> tuple[Array, Array]:
        """Minus the value."""
        return -values, np.full_like(values, -1.0)

    def band(self, mean: Array, spread: Array) -> tuple[Array, Array]:
        """The ends of the mirrored interval."""
        return super().band(-mean, spread)

    def expected(self, mean: Array, deviation: Array) -> Array:
        """Minus the mean."""
        return -mean

    def expected_slopes(self, mean: Array, deviation: Array) -> Slopes:
        """-1 and 0."""
        return -1.0, 0.0

    def optimistic(self, mean: Array, deviation: Array, width: Any) -> Array:
        """Minus the lower confidence bound."""
        return super().optimistic(-mean, deviation, width)

    def optimistic_slopes(self, mean: Array, deviation: Array, width: Any) -> Slopes:
        """-1 and the width."""
        return -1.0, width

    def improvement(self, mean: Array, deviation: Array, incumbent: Any) -> Array:
        """Expected Improvement of mirrored values."""
        return super().improvement(-mean, deviation, incumbent)

    def improvement_slopes(self, mean: Array, deviation: Array, incumbent: Any) -> Slopes:
        """-Phi(u) and phi(u)."""
        by_mean, by_deviation = super().improvement_slopes(-mean, deviation, incumbent)
        return -by_mean, by_deviation

    def missed(self, rivals: Rivals) -> tuple[Array, Array]:
        """E[(f(z*) - f(z))+], and phi(u)."""
        return super().missed(_mirrored(rivals))

    def chances(self, rivals: Rivals, tolerance: float) -> Array:
        """P(f(z*) - f(z) > tolerance)."""
        return super().chances(_mirrored(rivals), tolerance)

    def adjective(self, unit: str = "") -> str:
        """Smallest."""
        return "smallest"

    def noun(self, unit: str = "") -> str:
        """Minimum."""
        return "minimum"

    def bound_words(self, width: float, unit: str = "") -> str:
        """A lower confidence bound."""
        return f"smallest lower confidence bound (mean - {width:g} sd)"


def _mirrored(rivals: Rivals) -> Rivals:
    return replace(rivals, best_mean=-rivals.best_mean, mean=-rivals.mean)


MAXIMISE: Goal = Maximise()
"""The goal where nobody names one."""
