"""`mdp_expected_improvement` for many simulated campaigns: plans for the sum of Expected Improvement."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.planning.finite.dynamic_programming import TIE
from tcbo_pyomo.rehearsal.batched_induction import Costs
from tcbo_pyomo.rehearsal.plant_tables import one_of_the_best
from tcbo_pyomo.rehearsal.simulated_method import Scene


class PlannedImprovement:
    """The first move of the path that collects most Expected Improvement."""

    wants_covariance = False
    departure = False

    def choose(self, scene: Scene) -> Integers:
        """For each draw the row of its pair."""
        beliefs = scene.beliefs
        deviation = np.sqrt(beliefs.variance).T
        reward = scene.goal.improvement(beliefs.mean.T, deviation, scene.incumbent)
        to_go = scene.to_go(Costs(np.ascontiguousarray(-reward)))
        return one_of_the_best(-to_go, scene.usable, TIE, scene.generator)
