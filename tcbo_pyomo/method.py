"""Methods choose the next move. The paper's is `mdp_bo`; its rivals are files in baselines/ with the same face."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.planning.situation import Decision, Situation
from tcbo_pyomo.registry import load_class, names_in
from tcbo_pyomo.settings import Settings

BASELINES = "tcbo_pyomo.baselines"


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

    def plan_record(self) -> dict[str, Any] | None:
        """How the last move was found, as plain data that does not depend on the clock."""
        return None if self.last_plan is None else self.planner.record(self.last_plan)

    def state(self) -> Any:
        """What has to be saved beside the history, if anything."""
        return self.planner.state()

    def load(self, state: Any) -> None:
        """Take over what `state` returned."""
        self.planner.load(state)


def method_names() -> list[str]:
    """The paper's method and its rivals."""
    return ["mdp_bo", *names_in(BASELINES)]


def load_method(name: str) -> Any:
    """The class of a method, by name or as 'my_module:MyMethod'."""
    if name == "mdp_bo":
        return MdpBo
    if ":" not in name and name not in method_names():
        raise BadInput(f"unknown method '{name}'; {suggestion(name, method_names())}; or 'my_module:MyMethod'")
    return load_class(BASELINES, "method", name)


def believed_problem(method: Any, problem: Any) -> Any:
    """The problem as the method models it; the true one unless the method says otherwise."""
    believed = getattr(method, "believed", None)
    return problem if believed is None else believed(problem)
