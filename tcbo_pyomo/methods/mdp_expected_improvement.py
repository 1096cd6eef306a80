"""MDP-EI (section 5, "Baselines"): the planner with Expected Improvement in place of the gradient of the utility.

    maximise  sum_h sum_(x,a) d_h(x, a) E[EI(x')]  over the visitations d of the rest of the episode,

x' the state arrived at. Every remaining step earns the reward again, whatever the steps before it will have measured: a
weak version of planning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.knowledge.finite import Knowledge
from tcbo_pyomo.methods._requirements import finite
from tcbo_pyomo.planning.finite.plan_check import check_visitation
from tcbo_pyomo.planning.finite.planner import Plan
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.planning.finite.utility import Linearisation
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.acquisition import expected_improvement


class MdpExpectedImprovement:
    """Plans the rest of the episode for the sum of Expected Improvement; pending visits count as made."""

    def __init__(self, problem: Any, settings: Settings) -> None:
        self.problem = finite(problem, "mdp_expected_improvement", "local_search_region")
        self.planner = self.problem.planner(settings.planner)
        self.last_plan: Plan | None = None

    def next_decision(self, situation: Situation, knowledge: Knowledge, generator: np.random.Generator) -> int:
        """Solve the planning problem, draw the first move of the policy."""
        self.last_plan = self._plan(situation, knowledge, generator)
        return self.planner.choose(self.last_plan, situation, generator)

    def _plan(self, situation: Situation, knowledge: Knowledge, generator: np.random.Generator) -> Plan:
        """One linear subproblem: the reward is linear in the visitation, so that there is nothing to mix."""
        design, process = knowledge.design, self.problem.process
        reward = expected_improvement(design.mean, design.standard_deviation, knowledge.history.incumbent)
        best = int(reward.argmax())
        tangent = Linearisation(float(reward[best]), best, None, -(process.transitions @ reward))
        visitation = self.planner.oracle.extreme_point(tangent.gradient, situation, generator)
        check_visitation(visitation, self.problem.sets, situation, self.planner.oracle.name)
        return Plan(Policy(process, visitation), [(1.0, visitation)], tangent)
