"""When results become known (section 3): immediately, at the end of an episode, or after a delay."""

from __future__ import annotations

from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.settings import FeedbackSettings


def released(history: History, feedback: FeedbackSettings) -> list[Move]:
    """The pending moves whose results are due now, in the order they were made.

    At the end of the campaign a simulation releases whatever is left; that is not decided here.
    """
    made = history.moves_made
    due = made - made % history.horizon if feedback.kind == "episodic" else made - feedback.delay
    return [move for move in history.pending if history.order(move) <= due]
