"""What a campaign on a continuous plant knows; the same face as `Knowledge`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.knowledge import Beliefs, candidate_rule
from tcbo_pyomo.knowledge.recommendation import best_mean
from tcbo_pyomo.planning.continuous.utility import Stage, TrajectoryUtility
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.continuous_belief import ContinuousSurrogate
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

DEFAULT_RULE = "annealed"
DEFAULT_COUNT = {"thompson_sampling": 100, "upper_confidence": 25}
"""Candidates K of each rule, as in the paper's experiments."""

EXACT_MOVES = 1000
"""Largest budget with an exact posterior unless the settings ask for one. An exact update and each variance cost the square of
the number of measurements; from here on they would take longer than those of this many features."""


def representation(features: str, number: int | None, budget: int) -> tuple[str, int | None]:
    """What the surrogate of a campaign of so many moves is made of: its features, and how many."""
    if features != "auto":
        return features, number
    return ("exact", number) if budget <= EXACT_MOVES else ("nystroem", number or EXACT_MOVES)


class ContinuousKnowledge(Beliefs):
    """Beliefs about the black box on a box of scaled coordinates.

    Attributes
    ----------
    candidates
        K x d points of the last plan, Z; none before the first.
    """

    def __init__(self, problem: ContinuousProblem, settings: Settings, seed: int, history: History) -> None:
        name = settings.candidates.rule or DEFAULT_RULE
        if name == "credible_band":
            raise BadInput(
                "candidate rule 'credible_band' lists the states of a finite process; a continuous problem needs "
                "'thompson_sampling', 'upper_confidence' or 'annealed'"
            )
        self._rule = candidate_rule(name, settings.candidates.count or DEFAULT_COUNT.get(name, 100))
        super().__init__(problem, settings, seed, history)

    def prior(self, kernel: Kernel) -> ContinuousSurrogate:
        """The prior on the box."""
        surrogate, dimension = self.settings.surrogate, len(self.problem.coordinates)
        self.candidates: Array = np.empty((0, dimension))
        budget = self.problem.episodes * self.problem.horizon
        return ContinuousSurrogate(kernel, dimension, *representation(surrogate.features, surrogate.number, budget))

    def scaled_points(self, locations: list[Location]) -> Array:
        """Locations are scaled points already."""
        return np.array(locations)

    def forget(self) -> None:
        """Results or visits have changed: what was derived from them is computed again when it is asked for."""
        super().forget()
        self._recommendation: Location | None = None

    @property
    def recommendation(self) -> Location:
        """Where the posterior mean is largest."""
        if self._recommendation is None:
            with section("recommendation"), one_blas_thread():
                best = best_mean(self.belief, allowed=self.problem.allowed)
            self._recommendation = tuple(best.tolist())
        return self._recommendation

    def predict(self, locations: Sequence[Location]) -> tuple[Array, Array]:
        """Posterior mean and standard deviation of f at n points, given all measurements told."""
        points = self.scaled_points(list(locations))
        return self.belief.mean(points), self.belief.standard_deviation(points)

    def utility(self, generator: np.random.Generator) -> TrajectoryUtility:
        """U given the history, pending visits included, over a fresh set of candidates."""
        with section("candidates"):
            extra = {"share_spent": self.share_spent} if getattr(self._rule, "wants_share_spent", False) else {}
            self.candidates = self._rule(self.belief, generator, allowed=self.problem.allowed, **extra)
        objective = self.settings.utility.objective
        return TrajectoryUtility(self.design, self.candidates, objective, self.problem.noise, generator, self.stage)

    @property
    def stage(self) -> Stage:
        """How much is known: nothing, less than the results of half the budget, or more."""
        results, budget = len(self.belief.measured), self.problem.episodes * self.problem.horizon
        return "blind" if results == 0 else "exploring" if 2 * results < budget else "refining"
