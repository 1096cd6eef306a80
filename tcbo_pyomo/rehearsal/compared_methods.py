"""The rest of a campaign simulated with several methods, from what the campaign knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.knowledge.finite import FiniteKnowledge
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.rehearsal.chances import draw_chances
from tcbo_pyomo.rehearsal.members import Member
from tcbo_pyomo.rehearsal.simulated_budgets import refuse_other_couplings
from tcbo_pyomo.rehearsal.simulated_campaigns import FinitePlant, Rehearsal, rehearse
from tcbo_pyomo.rehearsal.simulated_stop import SimulatedStop
from tcbo_pyomo.rehearsal.standpoint import Standpoint, standpoint_of


class Simulator:
    """Simulates campaigns on one plant; what does not change between two decisions is kept."""

    usual_draws, every = 32, 0.1

    def __init__(self, problem: Problem) -> None:
        refuse_other_couplings(problem)
        self._plant: FinitePlant | None = None

    def rehearse(
        self,
        members: Sequence[Member],
        standpoint: Standpoint,
        draws: int,
        seed: np.random.SeedSequence,
        stop: SimulatedStop | None = None,
    ) -> dict[str, Rehearsal]:
        """The rest of the campaign with each member, on the same drawn functions with the same noise and luck."""
        # Many small products: a second thread slows them down, and would change the last digits.
        with one_blas_thread():
            chances, plant = draw_chances(standpoint, draws, seed), self._plant_of(standpoint)
            return {
                member.name: rehearse(
                    member.simulated(standpoint.band_width), plant, standpoint, chances, member.counts_pending, stop
                )
                for member in members
            }

    def final_regrets(
        self, members: Sequence[Member], knowledge: FiniteKnowledge, draws: int, seed: np.random.SeedSequence
    ) -> dict[str, Array]:
        """What each member misses at the end of the simulated campaigns (D each)."""
        if len(members) == 1:
            return {members[0].name: np.zeros(draws)}
        found = self.rehearse(members, standpoint_of(knowledge), draws, seed)
        return {name: rehearsal.final for name, rehearsal in found.items()}

    def _plant_of(self, standpoint: Standpoint) -> FinitePlant:
        plant = self._plant
        if plant is None or not np.array_equal(plant.noise_variance, standpoint.noise_variance):
            self._plant = plant = FinitePlant(standpoint.problem, standpoint.noise_variance)
        return plant
