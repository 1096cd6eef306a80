"""What a linear oracle answers where rules couple the steps of an episode: `LinearProgramming` or `PricedBudget`."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.plant.situation import Situation


class CoupledOracle(Protocol):
    """Minimises a linear function over what the plant can do under its rules until the end of an episode."""

    name: str

    def extreme_point(
        self, gradient: Array, situation: Situation, generator: np.random.Generator, first_pair: int | None = None
    ) -> Visitation:
        """An optimal visitation of the rest of the episode; with `first_pair` the best of those that begin with it."""

    def beginning_with(self, gradient: Array, situation: Situation, pair: int) -> Visitation | None:
        """An optimal visitation among those that make a move of the present state now; None where there is none."""

    def can_be_completed(self, situation: Situation, pair: int) -> bool:
        """Whether one unsplit path goes on from a move of the present state and keeps every constraint."""

    @property
    def given_up(self) -> bool:
        """Whether a question of `can_be_completed` was answered with no because its proof took too long."""

    def most_learned(self, gradient: Array, situation: Situation) -> Array | None:
        """For each pair of the present state a bound of what plans learn that begin with it, by the prices of the last plan.

        None where there are no prices.
        """
