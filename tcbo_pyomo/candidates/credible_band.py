"""Credible bands (section 3.1): a state is a candidate while its upper bound reaches the best lower bound.

Z = { x : mean(x) + width sd(x) >= max over x' of mean(x') - width sd(x') }
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from tcbo_pyomo.candidates.protocol import Plant
from tcbo_pyomo.foundation.arrays import Integers, Mask
from tcbo_pyomo.settings import CandidateSettings
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief


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
        self, belief: FiniteBelief, space: Mask, generator: np.random.Generator, share_spent: float = 0.0
    ) -> Integers:
        """Indices of the states that may still be the maximum; at least one."""
        spread = self.width * belief.standard_deviation
        best_lower = (belief.mean - spread)[space].max()
        return np.flatnonzero((belief.mean + spread >= best_lower) & space)
