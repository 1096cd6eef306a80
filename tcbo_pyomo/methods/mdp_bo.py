"""MDP-BO (Algorithm 1): plan the rest of the episode, make its first move."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.methods.protocol import Method, OfPlant, Tools
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.settings import Settings


class MdpBo(Method[OfPlant, Knowledge[Any]]):
    """Transition-constrained Bayesian optimisation (Algorithm 1): plan the rest of the episode, make its first move.

    The paper's plans minimise the variance of the difference between two candidates, and it draws the first move of its plan
    (`preset: paper`). On finite plants the plans of the default minimise the expected regret; it takes another first move if
    that delays the plan by at most one move and teaches more at once. On plants where every place is one move away, such as
    the laser, it is the move that lowers the expected regret most, at once or by going there and staying.
    """

    def __init__(self, problem: OfPlant, settings: Settings, tools: Tools) -> None:
        self.planner = tools.planner()
        self.last_plan: Any = None

    def next_decision(
        self, situation: Situation, knowledge: Knowledge[Any], generator: np.random.Generator
    ) -> Decision:
        """Define the utility, solve the planning problem, make the first move of the policy that the settings choose."""
        utility = knowledge.utility(generator)
        self.last_plan = self.planner.plan(utility, situation, generator)
        return self.planner.choose(self.last_plan, situation, generator)

    def planned_with(self) -> str | None:
        """The solver that plans and why it is used, in words."""
        return self.planner.planned_with

    def plan_record(self) -> dict[str, Any] | None:
        """How the last move was found, as plain data that does not depend on the clock."""
        return None if self.last_plan is None else self.planner.record(self.last_plan)

    def state(self) -> Any:
        """What has to be saved beside the history, if anything."""
        return self.planner.state()

    def load(self, state: Any) -> None:
        """Take over what `state` returned."""
        self.planner.load(state)
