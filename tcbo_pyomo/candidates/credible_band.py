"""Credible bands (section 3.1): a state is a candidate while its upper bound reaches the best lower bound.

Z = { x : mean(x) + width sd(x) >= max over x' of mean(x') - width sd(x') }

Another goal than the largest output has its scores in place of the values: for a target, where the distance may still be the
smallest, given that f lies within the band.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from tcbo_pyomo.candidates.protocol import Plant
from tcbo_pyomo.foundation.arrays import Integers, Mask
from tcbo_pyomo.settings import CandidateSettings
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.goal import Goal


class CredibleBand:
    """Candidates among the states of a finite process."""

    plant: ClassVar[Plant] = "finite"

    def __init__(self, width: float = 2.0**0.5) -> None:
        self.width = width

    @classmethod
    def from_settings(cls, settings: CandidateSettings) -> Self:
        """With the width asked for."""
        return cls() if settings.width is None else cls(settings.width)

    def __call__(
        self,
        belief: FiniteBelief,
        space: Mask,
        generator: np.random.Generator,
        share_spent: float = 0.0,
        goal: Goal = MAXIMISE,
    ) -> Integers:
        """Indices of the states that may still be the best; at least one."""
        lowest, highest = goal.band(belief.mean, self.width * belief.standard_deviation)
        return np.flatnonzero((highest >= lowest[space].max()) & space)
