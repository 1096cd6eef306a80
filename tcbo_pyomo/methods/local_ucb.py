"""Local UCB: mean + 2 sd over the points reachable in one move, what a user of today's packages would write.

    next = argmax over x' reachable from x in one move of  mean(x') + 2 sd(x')

This is GP-UCB (Srinivas et al. 2010) with the search confined to one move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.methods._one_move_at_a_time import OneMoveAtATime
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.problem.protocol import ProblemProtocol

WIDTH = 2.0
"""Standard deviations above the mean."""


class LocalUcb(OneMoveAtATime[ProblemProtocol, Knowledge[Any]]):
    """The largest upper confidence bound within reach of one move; pending visits count as made.

    On a finite process with random transitions it is the largest expectation over the states arrived at.
    """

    def next_decision(
        self, situation: Situation, knowledge: Knowledge[Any], generator: np.random.Generator
    ) -> Decision:
        """The pair to use or the action to take next."""
        return self.moves.highest_bound(knowledge.design, WIDTH, situation, generator, knowledge.goal)
