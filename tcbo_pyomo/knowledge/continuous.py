"""What a campaign on a continuous plant knows; the same face as `FiniteKnowledge`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcbo_pyomo.candidates.protocol import candidate_rule
from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.planning.continuous.utility import Stage, TrajectoryUtility
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

DEFAULT_RULE = "annealed"

EXACT_MOVES = 1000
"""Largest budget with an exact posterior unless the settings ask for one. An exact update and each variance cost the square of
the number of measurements; from here on they would take longer than those of this many features."""


def representation(features: str, number: int | None, budget: int) -> tuple[str, int | None]:
    """What the surrogate of a campaign of so many moves is made of: its features, and how many."""
    if features != "auto":
        return features, number
    return ("exact", number) if budget <= EXACT_MOVES else ("nystroem", number or EXACT_MOVES)


def best_mean(belief: ContinuousBelief, allowed: Allowed | None = None) -> Array:
    """The allowed point of the box with the largest posterior mean (section 5, "predictive regret"), scaled (d).

    The search starts from measured points and a fixed survey of the box. It draws no random numbers.
    """
    mean = ConfidenceBounds(belief, np.zeros(1))
    return global_maxima(mean, belief.dimension, allowed, belief.measured, along_edges=True).points[0]


class ContinuousKnowledge(Knowledge[ContinuousBelief]):
    """Beliefs about the black box on a box of scaled coordinates."""

    problem: ContinuousProblem

    def __init__(self, problem: ContinuousProblem, settings: Settings, seed: int, history: History) -> None:
        self.problem = problem
        self._rule = candidate_rule(settings.candidates.rule or DEFAULT_RULE, "continuous", settings.candidates)
        if settings.utility.objective == "regret":
            raise BadInput(
                f"setting 'utility.objective': got 'regret', and problem '{problem.name}' is continuous; use differences or "
                "g_allocation there"
            )
        super().__init__(settings, seed, history)

    def prior(self, kernel: Kernel) -> ContinuousBelief:
        """The prior on the box."""
        surrogate, dimension = self.settings.surrogate, len(self.problem.coordinates)
        self._candidates = np.empty((0, dimension))
        budget = self.problem.episodes * self.problem.horizon
        return ContinuousBelief(kernel, dimension, *representation(surrogate.features, surrogate.number, budget))

    def scaled_points(self, locations: Sequence[Location]) -> Array:
        """Locations are scaled points already."""
        return np.array(locations, dtype=float).reshape(-1, len(self.problem.coordinates))

    def forget(self) -> None:
        """Results or visits have changed: what was derived from them is computed again when it is asked for."""
        super().forget()
        self._recommendation: Location | None = None

    @property
    def candidates(self) -> Array:
        """K x d points of the last plan, Z; none before the first."""
        return self._candidates

    @property
    def recommendation(self) -> Location:
        """Where the posterior mean is largest."""
        if self._recommendation is None:
            with section("recommendation"), one_blas_thread():
                best = best_mean(self.belief, self.problem.allowed)
            self._recommendation = tuple(best.tolist())
        return self._recommendation

    def utility(self, generator: np.random.Generator) -> TrajectoryUtility:
        """U given the history, pending visits included, over a fresh set of candidates."""
        with section("candidates"):
            self._candidates = self._rule(self.belief, self.problem.allowed, generator, self.share_spent)
        objective = self.settings.utility.objective or "differences"
        return TrajectoryUtility(self.design, self._candidates, objective, self.problem.noise, generator, self.stage)

    @property
    def stage(self) -> Stage:
        """How much is known: nothing, less than the results of half the budget, or more."""
        results, budget = len(self.belief.measured), self.problem.episodes * self.problem.horizon
        return "blind" if results == 0 else "exploring" if 2 * results < budget else "refining"
