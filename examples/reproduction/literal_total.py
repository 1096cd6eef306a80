"""MDP-BO with the paper's weight 1 / (T H) of the prior read literally: T is the whole number of episodes.

The package takes T := t + 1, the episodes so far and the present one: then U is the variance that history and plan leave. With
the whole budget the prior counts for (t + 1) / T of itself, which is a prior variance that is T / (t + 1) times as large.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.knowledge.finite import FiniteKnowledge
from tcbo_pyomo.methods.mdp_bo import MdpBo
from tcbo_pyomo.planning.finite.planned_posterior import FeaturePosterior
from tcbo_pyomo.plant.situation import Decision, Situation


class LiteralTotal(MdpBo[Any]):
    """MDP-BO whose utility has the weight 1 / (T H) of the prior with T the whole budget."""

    plant = "finite"

    def next_decision(
        self, situation: Situation, knowledge: FiniteKnowledge, generator: np.random.Generator
    ) -> Decision:
        """As MDP-BO, with a wider prior in the utility."""
        self.last_plan = self.planner.plan(utility_of(knowledge, generator), situation, generator)
        return self.planner.choose(self.last_plan, situation, generator)


def utility_of(knowledge: FiniteKnowledge, generator: np.random.Generator) -> Any:
    """The utility with the prior's weight in the present episode of the whole budget."""
    utility = knowledge.utility(generator)
    share = knowledge.history.episode / knowledge.problem.episodes
    wider = knowledge.prior(knowledge.kernel).factor / np.sqrt(share)
    made = knowledge.past_information(knowledge.settings.utility)
    utility.posterior = lambda planned: FeaturePosterior(wider, made if planned is None else made + planned)
    return utility
