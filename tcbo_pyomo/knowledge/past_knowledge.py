"""What past experiments add to what a campaign knows: results before the first move, and the best of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.past_results import PastBatch
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.surrogate.output_scale import OutputScale


class PastKnowledge:
    """The part of `Knowledge` that sees past experiments as the model does."""

    problem: ProblemProtocol
    history: History

    @cached_property
    def scale(self) -> OutputScale:
        """On which scale the output is modelled."""
        return self.problem.output_scale

    def past_results(self) -> tuple[Array, Array, Array]:
        """Past experiments as they are modelled: scaled points (n x d), values and declared noise variances."""
        past = self.history.past
        values = np.array([self.scale.modelled(result.value) for _, result in past.rows], dtype=float)
        return past.points(self.problem), values, self.scale.noise_factor * past.noise_variances(self.problem)

    def past_notes(self, batch: PastBatch) -> list[str]:
        """What is worth saying about where past experiments were made."""
        return []

    def past_within_reach(self) -> list[float]:
        """Values of those past experiments that an episode could repeat, as they are modelled."""
        _, values, _ = self.past_results()
        return list(values.tolist())
