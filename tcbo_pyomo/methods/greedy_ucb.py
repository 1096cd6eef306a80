"""Greedy-UCB (section 5, "Baselines"): no planning, only the best next state.

next = argmax over the moves that may be made now of  E[mean(x') + sqrt(2) sd(x')],   x' the state arrived at
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.knowledge.finite import Knowledge
from tcbo_pyomo.methods._requirements import finite
from tcbo_pyomo.planning.finite.feasible_moves import FeasibleMoves
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.settings import Settings

WIDTH = 2.0**0.5
"""Standard deviations above the mean, as in the credible band of the discrete systems."""


class GreedyUcb:
    """The largest upper confidence bound among the states reachable in one move, ties broken at random.

    Pending visits count as made: they shrink the standard deviation.
    """

    def __init__(self, problem: Any, settings: Settings) -> None:
        self.problem = finite(problem, "greedy_ucb", "local_ucb")
        self.moves = FeasibleMoves(self.problem)

    def next_decision(self, situation: Situation, knowledge: Knowledge, generator: np.random.Generator) -> int:
        """The pair to use next."""
        bound = knowledge.design.mean + WIDTH * knowledge.design.standard_deviation
        return self.moves.best(self.problem.process.transitions @ bound, situation, generator)
