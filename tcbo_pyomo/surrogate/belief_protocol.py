"""What campaigns and reports ask of a belief about f, whatever kind of plant it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.situation import Location


class Belief(Protocol):
    """A Gaussian belief, updated one visit at a time; `FiniteBelief` and `ContinuousBelief` are its two kinds."""

    def observe(self, location: Location, value: float | None, noise_variance: float, /) -> None:
        """Condition on a measurement; `value` None means visited, value not known yet."""

    def copy(self) -> Self:
        """An independent copy."""

    def predict(self, locations: Sequence[Location] | Array) -> tuple[Array, Array]:
        """Mean and standard deviation of f at n places, n each."""
