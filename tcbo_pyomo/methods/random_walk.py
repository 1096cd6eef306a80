"""Random walk: a uniformly random feasible move, the yardstick that every method has to beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.methods._one_move_at_a_time import OneMoveAtATime
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.problem.protocol import ProblemProtocol


class RandomWalk(OneMoveAtATime[ProblemProtocol, Knowledge[Any]]):
    """Every feasible move is equally likely."""

    def next_decision(
        self, situation: Situation, knowledge: Knowledge[Any], generator: np.random.Generator
    ) -> Decision:
        """The pair to use or the action to take next."""
        return self.moves.random(situation, generator)
