"""Local UCB: mean + 2 sd over the points reachable in one move, what a user of today's packages would write.

    next = argmax over x' reachable from x in one move of  mean(x') + 2 sd(x')

This is GP-UCB (Srinivas et al. 2010) with the search confined to one move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.methods._steered import Steered
from tcbo_pyomo.planning.continuous.best_next_point import best_next_point
from tcbo_pyomo.planning.continuous.one_step_moves import Reach
from tcbo_pyomo.planning.continuous.steering import Steering
from tcbo_pyomo.planning.finite.feasible_moves import FeasibleMoves
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds

WIDTH = 2.0
"""Standard deviations above the mean."""


class LocalUcb(Steered):
    """The largest upper confidence bound within reach of one move; pending visits count as made.

    On a finite process with random transitions it is the largest expectation over the states arrived at.
    """

    def __init__(self, problem: Any, settings: Settings) -> None:
        self.problem = problem
        if isinstance(problem, Problem):
            self.moves = FeasibleMoves(problem)
        else:
            self.steering = Steering(problem, settings)

    def next_decision(self, situation: Situation, knowledge: Any, generator: np.random.Generator) -> Decision:
        """The pair to use or the action to take next."""
        belief = knowledge.design
        if self.steering is None:
            bound = belief.mean + WIDTH * belief.standard_deviation
            return self.moves.best(self.problem.process.transitions @ bound, situation, generator)
        surface = ConfidenceBounds(belief, np.array([WIDTH]))
        point, _ = best_next_point(surface, Reach(self.problem, situation), generator)
        return self.steering.next_at(point, situation)
