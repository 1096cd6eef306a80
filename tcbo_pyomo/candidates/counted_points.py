"""What the rules for continuous plants share: so many points, drawn uniformly before the first measurement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from tcbo_pyomo.candidates.protocol import Plant
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.candidates.search.uniform import uniform_points
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.settings import CandidateSettings
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal


class CountedPoints(ABC):
    """A rule that lists `count` points, `usual` of them where nobody says how many."""

    plant: ClassVar[Plant] = "continuous"
    usual: ClassVar[int] = 100

    def __init__(self, count: int | None = None) -> None:
        self.count = self.usual if count is None else count
        if self.count < 1:
            raise BadInput(f"number of candidates {count!r} must be at least 1")

    @classmethod
    def from_settings(cls, settings: CandidateSettings) -> Self:
        """With the count asked for."""
        return cls(settings.count)

    def __call__(
        self,
        belief: ContinuousBelief,
        space: Allowed | None,
        generator: np.random.Generator,
        share_spent: float = 0.0,
        goal: Goal = MAXIMISE,
    ) -> Array:
        """The candidates, count x d; all of them are allowed."""
        if len(belief.measured) == 0:
            return uniform_points(self.count, belief.dimension, generator, space)
        return self.best_points(belief, space, generator, goal)

    @abstractmethod
    def best_points(
        self, belief: ContinuousBelief, space: Allowed | None, generator: np.random.Generator, goal: Goal
    ) -> Array:
        """The candidates, given at least one measurement."""
