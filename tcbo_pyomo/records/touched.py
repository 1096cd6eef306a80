"""Which moves a call changed: what its row has to keep."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.knowledge.history import History, Move


class Touched:
    """Moves as they were before a change.

    Parameters
    ----------
    history
        All moves.
    move
        The move to be changed; with it what a schedule has after it may change. None to watch all moves.
    all_moves
        False, without a move, to watch for new moves only.
    """

    def __init__(self, history: History, move: Move | None, all_moves: bool = True) -> None:
        self._history, self._length = history, len(history.moves)
        if move is None:
            watched = history.moves if all_moves else []
        else:
            watched = history.moves[move.number - 1 :] if move.scheduled else [move]
        self._before = [(other, dict(vars(other))) for other in watched]

    def changed(self) -> list[dict[str, Any]]:
        """The moves that changed or are new, as they are now."""
        changed = [dict(vars(move)) for move, before in self._before if vars(move) != before]
        return [*changed, *(dict(vars(move)) for move in self._history.moves[self._length :])]
