"""LSR, local search region constrained Bayesian optimisation (Paulson et al. 2023; section 5, "Baselines").

x' = argmax of EI within reach of one move;  go there if EI(x') > gamma = 0.01,
else move towards the global maximiser of EI as far as one move allows.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.continuous import ContinuousKnowledge
from tcbo_pyomo.methods._one_move_at_a_time import OneMoveAtATime
from tcbo_pyomo.methods.protocol import Tools
from tcbo_pyomo.planning.continuous.best_next_point import best_next_point
from tcbo_pyomo.planning.continuous.one_step_moves import Reach
from tcbo_pyomo.planning.continuous.steering import Steering
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.acquisition import ImprovementSurface

WORTHWHILE = 0.01
"""gamma: the local improvement below which the search leaves for the global maximiser."""


class LocalSearchRegion(OneMoveAtATime[ContinuousProblem, ContinuousKnowledge]):
    """Local Expected Improvement while there is any, else on the way to the global one."""

    plant = "continuous"
    instead = "mdp_expected_improvement"

    def __init__(self, problem: ContinuousProblem, settings: Settings, tools: Tools) -> None:
        if settings.feedback.kind != "immediate":
            raise BadInput(
                f"method 'local_search_region' chooses each move by the result of the last one, and feedback is "
                f"'{settings.feedback.kind}'; use feedback 'immediate', or truncated_snake"
            )
        self.problem = problem
        self.moves = self.steering = Steering(problem, settings.planner)

    def next_decision(
        self, situation: Situation, knowledge: ContinuousKnowledge, generator: np.random.Generator
    ) -> tuple[float, ...]:
        """The action to take next."""
        surface = ImprovementSurface(knowledge.design, knowledge.incumbent, knowledge.goal)
        point, improvement = best_next_point(surface, Reach(self.problem, situation), generator)
        if improvement > WORTHWHILE:
            return self.steering.next_at(point, situation)
        dimension, known = len(self.problem.input_axes), knowledge.belief.measured
        allowed = None if self.problem.has_hidden else self.problem.allowed
        target = global_maxima(surface, dimension, allowed, known).points[0]
        return self.steering.towards(target, situation)
