"""What the rivals that look at one move at a time have in common: the moves, and their state to save."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.methods.protocol import Known, Method, OfPlant, Tools
from tcbo_pyomo.planning.protocol import OneMove
from tcbo_pyomo.settings import Settings


class OneMoveAtATime(Method[OfPlant, Known]):
    """A method that plans nothing; which moves are feasible now is answered by `OneMove`."""

    uses_utility = False
    moves: OneMove[Any]

    def __init__(self, problem: OfPlant, settings: Settings, tools: Tools) -> None:
        self.moves = tools.one_move()

    def plan_record(self) -> dict[str, Any] | None:
        """How the way to the place it wants was found; None where the move needed no solve."""
        return self.moves.record()

    def state(self) -> Any:
        """What has to be saved beside the history, if anything."""
        return self.moves.state()

    def load(self, state: Any) -> None:
        """Take over what `state` returned."""
        self.moves.load(state)
