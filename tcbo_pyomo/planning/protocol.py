"""What methods ask of planning, whatever kind of plant: a planner of the rest of the episode, or one move at a time.

`planning/finite` and `planning/continuous` have one implementation of each; `campaign/assembly.py` chooses.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np

from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal

Aim = TypeVar("Aim", contravariant=True)
"""The utility that a planner minimises."""
Plan = TypeVar("Plan")
"""What it plans: a policy, or a mixture of paths."""
Belief = TypeVar("Belief", contravariant=True)
"""What is believed about f on this kind of plant."""


class Planner(Protocol[Aim, Plan]):
    """Plans the rest of an episode."""

    def plan(self, utility: Aim, situation: Situation, generator: np.random.Generator) -> Plan:
        """Minimise the utility over what the plant can do until the end of the episode."""

    def choose(self, plan: Plan, situation: Situation, generator: np.random.Generator) -> Decision:
        """The move of a plan that is made now."""

    @property
    def planned_with(self) -> str:
        """The solver of its programmes and why it is used, in words."""

    def record(self, plan: Plan) -> dict[str, Any]:
        """What is worth keeping of a plan, as plain data that does not depend on the clock."""

    def state(self) -> Any:
        """What has to be saved beside the history, as plain data; None for nothing."""

    def load(self, state: Any) -> None:
        """Take over what `state` returned."""


class OneMove(Protocol[Belief]):
    """What can be done in one move, for methods that look no further; the episode can always be completed after it."""

    def random(self, situation: Situation, generator: np.random.Generator) -> Decision:
        """A uniformly random move among those that may be made now."""

    def highest_bound(
        self, belief: Belief, width: float, situation: Situation, generator: np.random.Generator, goal: Goal = MAXIMISE
    ) -> Decision:
        """The move to the largest upper confidence bound, mean + width sd; its expectation where chance decides.

        Another goal than the largest output has its own optimistic score.
        """

    def record(self) -> dict[str, Any] | None:
        """How the last move was found, as plain data that does not depend on the clock; None where nothing was solved."""

    def state(self) -> Any:
        """What has to be saved beside the history, as plain data; None for nothing."""

    def load(self, state: Any) -> None:
        """Take over what `state` returned."""
