"""Methods choose the next move. The paper's is `mdp_bo`; rivals are files of their own with the same face."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.planning.situation import Decision, Situation
from tcbo_pyomo.settings import Settings


class Method(Protocol):
    """Chooses one feasible move at a time."""

    def next_decision(self, situation: Situation, knowledge: Any, generator: np.random.Generator) -> Decision:
        """What to do next."""


class MdpBo:
    """Transition-constrained Bayesian optimisation (Algorithm 1): plan the rest of the episode, make its first move."""

    def __init__(self, problem: Any, settings: Settings) -> None:
        self.planner = problem.planner(settings.planner)
        self.last_plan: Any = None

    def next_decision(self, situation: Situation, knowledge: Any, generator: np.random.Generator) -> Decision:
        """Define the utility, solve the planning problem, draw the first move of the policy."""
        utility = knowledge.utility(generator)
        self.last_plan = self.planner.plan(utility, situation, generator)
        return self.planner.choose(self.last_plan, situation, generator)


METHODS: dict[str, Callable[[Any, Settings], Method]] = {"mdp_bo": MdpBo}


def load_method(name: str) -> Callable[[Any, Settings], Method]:
    """The method with a name."""
    if name not in METHODS:
        raise BadInput(f"unknown method '{name}'; known: {', '.join(sorted(METHODS))}")
    return METHODS[name]
