"""Methods choose the next move. The paper's is `mdp_bo`; its rivals are files beside it with the same interface."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.registry import Registry
from tcbo_pyomo.planning.protocol import OneMove, Planner
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import Settings

OfPlant = TypeVar("OfPlant", bound=ProblemProtocol)
"""The problems that a method can serve."""
Known = TypeVar("Known", contravariant=True)
"""What it has to know: `FiniteKnowledge`, `ContinuousKnowledge`, or what both share."""


class Tools(Protocol):
    """What a campaign hands to its method; each is made for the plant at hand when it is asked for."""

    def planner(self) -> Planner[Any, Any]:
        """Plans the rest of the episode, as the settings say."""

    def one_move(self) -> OneMove[Any]:
        """What can be done in one move."""

    def under(self, settings: Settings) -> Tools:
        """The same for a method with other settings."""


class Method(Protocol[OfPlant, Known]):
    """Chooses one feasible move at a time: derive from it, and write `next_decision`.

    Attributes
    ----------
    plant
        The kind of plant it is for.
    instead
        For a method of one kind: what to use on the other.
    uses_utility
        Whether its moves depend on `utility.objective`; True for a method of one's own unless it says otherwise.
    """

    plant: ClassVar[Literal["finite", "continuous", "any"]] = "any"
    instead: ClassVar[str] = "mdp_bo"
    uses_utility: ClassVar[bool] = True

    def __init__(self, problem: OfPlant, settings: Settings, tools: Tools) -> None:
        """Made of the plant, all settings of the campaign, and what it may plan or move with."""
        super().__init__()

    def next_decision(self, situation: Situation, knowledge: Known, generator: np.random.Generator) -> Decision:
        """What to do next."""

    def planned_with(self) -> str | None:
        """The solver that plans and why it is used, in words; None where nothing is planned."""
        return None

    def plan_record(self) -> dict[str, Any] | None:
        """How the last move was found, as plain data that does not depend on the clock; None where nothing was planned."""
        return None

    def acting(self, knowledge: Known) -> tuple[Settings, str] | None:
        """For a method that chooses among others: the settings of the one that makes the next move, and why it does."""
        return None

    def state(self) -> Any:
        """What has to be saved beside the history, as plain data; None for nothing."""
        return None

    def load(self, state: Any) -> None:
        """Take over what `state` returned."""
        return None

    @classmethod
    def believed(cls, problem: OfPlant) -> OfPlant:
        """The problem as the method models it; the true one unless the method says otherwise."""
        return problem


METHODS: Registry[Method[Any, Any]] = Registry("tcbo_pyomo.methods", "method", Method)


def load_method(name: str) -> type[Method[Any, Any]]:
    """The class of a method, by name or as 'my_module:MyMethod'."""
    found = METHODS.load(name)
    # What only looks like a method was perhaps never meant to be one.
    if Method not in getattr(found, "__mro__", ()):
        raise BadInput(f"method '{name}' is not a subclass of Method; derive it from tcbo_pyomo.methods.protocol.Method")
    return cast(type[Method[Any, Any]], found)  # A registry hands out what makes them.
