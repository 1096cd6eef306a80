"""Random walk: a uniformly random feasible move, the yardstick that every method has to beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.methods._steered import Steered
from tcbo_pyomo.planning.continuous.one_step_moves import Reach
from tcbo_pyomo.planning.continuous.steering import Steering
from tcbo_pyomo.planning.finite.feasible_moves import FeasibleMoves
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import Settings


class RandomWalk(Steered):
    """Every feasible move of a finite process is equally likely.

    On a continuous plant the action is uniform among those within their limits whose move obeys every rule; where the
    rest of the episode could not be completed from there, the nearest point from which it can is taken.
    """

    def __init__(self, problem: Any, settings: Settings) -> None:
        self.problem = problem
        if isinstance(problem, Problem):
            self.moves = FeasibleMoves(problem)
        else:
            self.steering = Steering(problem, settings)

    def next_decision(self, situation: Situation, knowledge: Any, generator: np.random.Generator) -> Decision:
        """The pair to use or the action to take next."""
        if self.steering is None:
            return self.moves.best(np.zeros(self.problem.process.number_of_pairs), situation, generator)
        reach = Reach(self.problem, situation)
        return self.steering.next_at(reach.arrivals(reach.draw(1, generator))[0], situation)
