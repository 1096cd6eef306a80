"""MDP-EI (section 5, "Baselines"): the planner with Expected Improvement in place of the gradient of the utility.

    maximise  sum_h sum_(x,a) d_h(x, a) E[EI(x')]  over the visitations d of the rest of the episode,

x' the state arrived at. Every remaining step earns the reward again, whatever the steps before it will have measured: a
weak version of planning.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.knowledge.finite import FiniteKnowledge
from tcbo_pyomo.methods.protocol import Method, Tools
from tcbo_pyomo.planning.finite.planner import FinitePlanner, Plan
from tcbo_pyomo.planning.finite.utility import Linearisation
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import Settings


class MdpExpectedImprovement(Method[Problem, FiniteKnowledge]):
    """Plans the rest of the episode for the sum of Expected Improvement; pending visits count as made."""

    plant = "finite"
    instead = "local_search_region"
    uses_utility = False

    def __init__(self, problem: Problem, settings: Settings, tools: Tools) -> None:
        self.problem, self.planner = problem, FinitePlanner(problem, settings.planner)
        self.last_plan: Plan | None = None

    def planned_with(self) -> str | None:
        """The solver that plans and why it is used, in words."""
        return self.planner.planned_with

    def next_decision(self, situation: Situation, knowledge: FiniteKnowledge, generator: np.random.Generator) -> int:
        """Solve the planning problem, draw the first move of the policy."""
        design = knowledge.design
        reward = knowledge.goal.improvement(design.mean, design.standard_deviation, knowledge.incumbent)
        best = int(reward.argmax())
        earned = Linearisation(float(reward[best]), best, None, -(self.problem.process.transitions @ reward))
        self.last_plan = self.planner.plan_reward(earned, situation, generator)
        return self.planner.choose(self.last_plan, situation, generator)
