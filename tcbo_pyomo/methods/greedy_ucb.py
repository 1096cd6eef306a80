"""Greedy-UCB (section 5, "Baselines"): no planning, only the best next state.

next = argmax over the moves that may be made now of  E[mean(x') + sqrt(2) sd(x')],   x' the state arrived at
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.knowledge.finite import FiniteKnowledge
from tcbo_pyomo.methods._one_move_at_a_time import OneMoveAtATime
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.problem.finite import Problem

WIDTH = 2.0**0.5
"""Standard deviations above the mean, as in the credible band of the discrete systems."""


class GreedyUcb(OneMoveAtATime[Problem, FiniteKnowledge]):
    """The largest upper confidence bound among the states reachable in one move, ties broken at random.

    Pending visits count as made: they shrink the standard deviation.
    """

    plant = "finite"
    instead = "local_ucb"

    def next_decision(
        self, situation: Situation, knowledge: FiniteKnowledge, generator: np.random.Generator
    ) -> Decision:
        """The pair to use next."""
        return self.moves.highest_bound(knowledge.design, WIDTH, situation, generator, knowledge.goal)
