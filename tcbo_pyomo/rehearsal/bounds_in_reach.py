"""Upper confidence bounds within reach of one move, for many simulated campaigns: `local_ucb` and `greedy_ucb`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.planning.finite.dynamic_programming import TIE
from tcbo_pyomo.rehearsal.plant_tables import one_of_the_best
from tcbo_pyomo.rehearsal.simulated_method import Scene


@dataclass(frozen=True)
class HighestBound:
    """The move with the largest expectation of mean + width sd, or of another goal's optimistic score, where it arrives."""

    width: float
    wants_covariance = False
    departure = False

    def choose(self, scene: Scene) -> Integers:
        """For each draw the row of its pair."""
        beliefs = scene.beliefs
        bound = scene.goal.optimistic(beliefs.mean, np.sqrt(beliefs.variance), self.width)
        return one_of_the_best(scene.tables.expected(scene.pairs, bound), scene.usable, TIE, scene.generator)
