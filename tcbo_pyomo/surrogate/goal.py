"""What a campaign is after: the largest output, the smallest one, or the one closest to a target.

A goal turns values of the output into scores, of which the largest is the best. The Gaussian process models the output itself,
whatever the goal: means, variances, learning and criticism do not depend on it. Everything that asks which place is the better
one asks the goal, and gets

- the score of a value, and the interval of scores that a credible interval of values holds (candidates, section 3.1);
- the expected score, by which places are recommended. For a target it is minus the expected distance: a place that is at the
  target by its mean alone, with a wide distribution, is worse than a place that is known to be close;
- an optimistic score (upper confidence bounds), the expected improvement, and what a recommendation is expected to miss.

`on(scale)` is the same goal for what is modelled, where that is the logarithm of the output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.output_scale import OutputScale
from tcbo_pyomo.surrogate.rivals import Rivals

Slopes = tuple[Array | float, Array | float]
"""Derivatives by the mean and by the standard deviation."""


class Goal(ABC):
    """Which outputs are better; `Maximise`, `Minimise` and `Target` are all there are.

    Attributes
    ----------
    name
        As settings and problem files name it.
    sign
        -1 where drawn functions are mirrored: a campaign that minimises f is one that maximises -f, draw by draw.
    better, worse
        How one value compares with another, in words.
    first_incumbent
        The best score before the first result; None where the goal has no number that stands for it.
    exact_chances
        Whether `chances` are probabilities, and not upper bounds of them.
    """

    name: ClassVar[str]
    sign: ClassVar[float] = 1.0
    better: ClassVar[str]
    worse: ClassVar[str]
    first_incumbent: ClassVar[float | None] = 0.0
    exact_chances: ClassVar[bool] = True

    @abstractmethod
    def score(self, values: Any) -> Any:
        """How good some values are: the larger the better, in the unit of the output."""

    @abstractmethod
    def smooth_score(self, values: Array) -> tuple[Array, Array]:
        """Numbers in the order of the scores without their kinks, and their derivatives: what a search follows uphill."""

    @abstractmethod
    def band(self, mean: Array, spread: Array) -> tuple[Array, Array]:
        """The lowest and the highest score of a value between mean - spread and mean + spread."""

    @abstractmethod
    def expected(self, mean: Array, deviation: Array) -> Array:
        """The expected score of normal values."""

    @abstractmethod
    def expected_slopes(self, mean: Array, deviation: Array) -> Slopes:
        """Its derivatives."""

    @abstractmethod
    def optimistic(self, mean: Array, deviation: Array, width: Any) -> Array:
        """An upper confidence bound of the score, so many standard deviations wide."""

    @abstractmethod
    def optimistic_slopes(self, mean: Array, deviation: Array, width: Any) -> Slopes:
        """Its derivatives."""

    @abstractmethod
    def improvement(self, mean: Array, deviation: Array, incumbent: Any) -> Array:
        """By how much the scores of normal values are expected to exceed an incumbent score, counted where they do."""

    @abstractmethod
    def improvement_slopes(self, mean: Array, deviation: Array, incumbent: Any) -> Slopes:
        """Its derivatives."""

    @abstractmethod
    def missed(self, rivals: Rivals) -> tuple[Array, Array]:
        """By how much the score of each rival is expected to exceed that of the recommended place, counted where it does.

        And its slope in the standard deviation of their difference.
        """

    @abstractmethod
    def chances(self, rivals: Rivals, tolerance: float) -> Array:
        """How probable it is that the score of each rival exceeds that of the recommended place by more than a tolerance.

        The tolerance is one of modelled values. Where `exact_chances` is false it is an upper bound.
        """

    def on(self, scale: OutputScale) -> Goal:
        """The goal for values as they are modelled; a monotone scale changes no order."""
        return self

    @property
    def data(self) -> Any:
        """As settings and files have it."""
        return self.name

    @abstractmethod
    def adjective(self, unit: str = "") -> str:
        """`largest`, `smallest`, or `closest to 42 %`."""

    def in_words(self, output: str, unit: str = "") -> str:
        """`largest yield`, `smallest yield`, or `yield closest to 42 %`."""
        return f"{self.adjective(unit)} {output}"

    @abstractmethod
    def noun(self, unit: str = "") -> str:
        """`maximum`, `minimum`, or `value closest to 42 %`."""

    def regret_words(self, unit: str = "") -> str:
        """What regret is measured against."""
        return f"Regret of the recommendation against the true {self.noun(unit)}"

    @abstractmethod
    def bound_words(self, width: float, unit: str = "") -> str:
        """The optimistic score in words."""
