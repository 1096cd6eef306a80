"""The stop of a campaign in many simulated ones: the counterpart of `knowledge/drawn_regrets.py`, draws side by side."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.rehearsal.batched_beliefs import BatchedBeliefs
from tcbo_pyomo.rehearsal.standpoint import Standpoint
from tcbo_pyomo.surrogate.joint_moments import Moments
from tcbo_pyomo.surrogate.likely_rivals import MOST_RIVALS, likely_rivals
from tcbo_pyomo.surrogate.rivals import Rivals

FUNCTIONS = 1024
"""Drawn for each simulated campaign; a real one draws more."""


class SimulatedStop:
    """Says which simulated campaigns know enough.

    Parameters
    ----------
    standpoint
        Where they began.
    tolerance, wanted
        What the recommendation may miss, in the unit of the output, and how probable that has to be.
    """

    def __init__(self, standpoint: Standpoint, tolerance: float, wanted: float) -> None:
        self.scale, self.tolerance, self.wanted = standpoint.scale, tolerance, wanted
        self._goal, self._goal_of_outputs = standpoint.goal, standpoint.problem.goal
        self._space = standpoint.problem.search_space
        self._normal = np.random.default_rng(0).standard_normal((FUNCTIONS, MOST_RIVALS + 1))

    def reached(self, beliefs: BatchedBeliefs) -> Mask:
        """Whether each of D campaigns knows enough (D)."""
        return np.array([self._probability(beliefs, draw) >= self.wanted for draw in range(len(beliefs.mean))])

    def _probability(self, beliefs: BatchedBeliefs, draw: int) -> float:
        """At most what a real campaign would say; where one rival alone rules it out, no functions are drawn."""
        mean, told, variance = beliefs.mean[draw], beliefs.told_covariance(draw), beliefs.told_variance[draw]
        best = int(np.where(self._space, self._goal.expected(mean, np.sqrt(variance)), -np.inf).argmax())
        places = np.flatnonzero(self._space)
        places = places[places != best]
        shared = told.with_state(best)
        deviation = np.sqrt(np.maximum(variance[places] + shared[best] - 2.0 * shared[places], 0.0))
        rivals = Rivals(mean[best], shared[best], mean[places], variance[places], shared[places], deviation)
        chosen, chance = likely_rivals(self._goal.chances(rivals, self._modelled(float(mean[best]))))
        if not len(chosen):
            return 1.0
        if self._goal.exact_chances and chance[0] > 1.0 - self.wanted:
            return 1.0 - float(chance[0])
        rows = np.array([best, *places[chosen]])
        values = Moments(mean[rows], told.between(rows)).drawn(self._normal[:, : len(rows)])
        scores: Array = self._goal_of_outputs.score(self.scale.output(values))
        return float(np.mean(scores.max(axis=1) - scores[:, 0] <= self.tolerance))

    def _modelled(self, mean: float) -> float:
        value, sign = float(self.scale.output(mean)), self._goal.sign
        return sign * (self.scale.modelled(value + sign * self.tolerance) - mean)
