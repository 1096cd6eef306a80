"""When results become known (section 3): immediately, at the end of an episode, or after a delay.

A further kind is one line of `DUE` and one word of `FeedbackSettings.kind`.
"""

from __future__ import annotations

from collections.abc import Callable

from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.settings import FeedbackSettings

DUE: dict[str, Callable[[int, int, FeedbackSettings], int]] = {
    "immediate": lambda made, step, feedback: made,
    "episodic": lambda made, step, feedback: made - step,
    "delayed": lambda made, step, feedback: made - feedback.delay,
}
"""Up to which move, counted over the whole campaign, the results are known: from the moves made, and those of this episode."""


def released(history: History, feedback: FeedbackSettings) -> list[Move]:
    """The pending moves whose results are due now, in the order they were made.

    At the end of the campaign a simulation releases whatever is left; that is not decided here.
    """
    due = DUE[feedback.kind](history.moves_made, history.situation().step, feedback)
    return [move for move in history.pending if history.order(move) <= due]
