"""The history of a campaign: every move asked for, where the plant arrived, and what was measured.

Where the plant is and what has been measured are two different things: results may come late, out of order, or never.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.move import Move, Words
from tcbo_pyomo.knowledge.past_results import Past, PastBatch
from tcbo_pyomo.knowledge.plausibility import Surprise, surprise_from
from tcbo_pyomo.plant.measured_moments import Way
from tcbo_pyomo.plant.situation import Decision, Location, Situation

__all__ = ["History", "Move", "Words"]


@dataclass
class History:
    """All moves of a campaign and the order in which results were told.

    A number that occurs again in `told` is a replicate: its k-th occurrence is the k-th of the move's `values`.
    """

    start: Location
    horizon: int
    moves: list[Move] = field(default_factory=list)
    told: list[int] = field(default_factory=list)
    lengths: dict[int, int] = field(default_factory=dict)
    """Moves of those episodes that have other than `horizon`: they were made before the horizon was amended."""
    past: Past = field(default_factory=Past)
    """Results of experiments that are no moves of this campaign; they count before all that was told."""
    words: Words | None = field(default=None, repr=False, compare=False)
    """How places are written when a move is printed."""
    _known: tuple[Move, Situation] | None = field(default=None, init=False, repr=False, compare=False)
    """The last move when `situation` was asked for, and the answer."""

    def add(
        self, origin: Location, step: int, decision: Decision, expected: Location | None, way: Way = ()
    ) -> Move:
        """Record that a move was asked for."""
        move = Move(len(self.moves) + 1, self.episode, step, origin, decision, expected, way=way)
        self.moves.append(self._worded(move))
        return move

    def move(self, number: Any) -> Move:
        """The move with a number; refuses moves that were never asked for or will not be made."""
        whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
        if not whole or not 1 <= number <= len(self.moves):
            known = f"1 to {len(self.moves)}" if self.moves else "none yet"
            raise BadInput(f"move {number!r} was never asked for; moves asked for: {known}")
        move = self.moves[number - 1]
        if move.cancelled:
            raise BadInput(f"move {number} was cancelled; ask for a new one")
        return move

    @property
    def made(self) -> list[Move]:
        """Moves after which the plant's position is known (or assumed, in a schedule)."""
        return [move for move in self.moves if move.made]

    @property
    def pending(self) -> list[Move]:
        """Moves made (or assumed to be, in a schedule) whose result has not been told."""
        return [move for move in self.moves if move.value is None and move.made and not move.skipped]

    @property
    def measurements(self) -> list[tuple[Move, float]]:
        """Every value with its move, in the order told."""
        seen: Counter[int] = Counter()
        found = []
        for number in self.told:
            move = self.moves[number - 1]
            place = move.along[seen[number]] if move.along else None
            found.append((move if place is None else move.at(place[1]), move.values[seen[number]]))
            seen[number] += 1
        return found

    @property
    def surprises(self) -> list[Surprise | None]:
        """For each result told what was expected of it, where it was unlikely; None otherwise."""
        seen: Counter[int] = Counter()
        found: list[Surprise | None] = []
        for number in self.told:
            of_move = self.moves[number - 1].surprises
            found.append(of_move[seen[number]] if of_move else None)
            seen[number] += 1
        return found

    @property
    def known(self) -> int:
        """How many results the model has: those told and those of past experiments."""
        return len(self.told) + len(self.past)

    @property
    def open_move(self) -> Move | None:
        """The move asked for and not yet made."""
        last = self.moves[-1] if self.moves else None
        return last if last is not None and last.arrived is None and not last.cancelled else None

    @property
    def assumed(self) -> list[Move]:
        """What is left to be made of the last schedule: its moves after the last one that something was reported of.

        A report on a move, or asking for the next episode, says that all moves before it were made.
        """
        found: list[Move] = []
        for move in reversed(self.moves):
            if move.cancelled and not found:
                continue
            left = move.made and not move.reported and move.episode == self.moves[-1].episode
            # A schedule goes to the end of its episode; one that was left before is over.
            if not left or (not found and move.step < self.length(move.episode)):
                break
            found.append(move)
        return found[::-1]

    @property
    def moves_made(self) -> int:
        """How many moves have been made in all: a later one is made only after every earlier one."""
        last = self._last_made
        return 0 if last is None else self.order(last)

    @property
    def _last_made(self) -> Move | None:
        return next((move for move in reversed(self.moves) if move.made), None)

    @property
    def episode(self) -> int:
        """The episode of the next move, from 1."""
        last = self._last_made
        return 1 if last is None else last.episode + int(last.step >= self.length(last.episode))

    def length(self, episode: int) -> int:
        """Moves of an episode."""
        return self.lengths.get(episode, self.horizon)

    def moves_of(self, episodes: int) -> int:
        """Moves of the first so many episodes."""
        return episodes * self.horizon + sum(n - self.horizon for e, n in self.lengths.items() if e <= episodes)

    def episode_moves(self, episode: int) -> list[Move]:
        """Moves made in an episode, in order."""
        found = []
        # From the end, where the present episode is. Moves that were made stand in order; cancelled ones of a later
        # episode may stand before them, when the plant turned out to have left its schedule long ago.
        for move in reversed(self.moves):
            if not move.made:
                continue
            if move.episode < episode:
                break
            if move.episode == episode and move.step > 0:
                found.append(move)
        return found[::-1]

    def order(self, move: Move) -> int:
        """How many moves had been made when this one was."""
        return self.moves_of(move.episode - 1) + move.step

    def situation(self) -> Situation:
        """The path of the current episode; at the start of one when the last is complete."""
        last = self._last_made
        if last is None:
            return Situation((self.start,))
        found = self._one_further(last)
        if found is None:
            moves = self.episode_moves(self.episode)
            start = moves[0].origin if moves else self.start
            found = Situation((start, *(move.arrived for move in moves)), tuple(move.decision for move in moves))
        self._known = last, found
        return found

    def _one_further(self, last: Move) -> Situation | None:
        """The situation after a move, from the one before it; None where that is not known.

        A move stands only as long as the plant's way to it does: whatever changes an arrival cancels the moves after it.
        So what was known after the move before still holds when that move still stands.
        """
        if self._known is None or not 1 < last.step < self.length(last.episode):
            return None
        before, known = self._known
        stands = not before.cancelled and before.arrived == known.state
        if not stands or last.step != known.step + 1 or self.moves[last.number - 2] is not before:
            return None
        return Situation((*known.path, last.arrived), (*known.decisions, last.decision))

    def path(self, episode: int) -> tuple[Location, ...]:
        """Where the plant was in an episode, the start first."""
        moves = self.episode_moves(episode)
        start = moves[0].origin if moves else self.start
        return (start, *(move.arrived for move in moves if move.arrived is not None))

    def _worded(self, move: Move) -> Move:
        if self.words is not None:
            move.words = self.words
        return move

    def to_dict(self) -> dict[str, Any]:
        """Plain data for saving."""
        lengths = {"lengths": {str(e): n for e, n in self.lengths.items()}} if self.lengths else {}
        past = {"past": [batch.to_dict() for batch in self.past.batches]} if self.past else {}
        return {"moves": [asdict(move) for move in self.moves], "told": list(self.told), **lengths, **past}

    def load(self, data: dict[str, Any]) -> None:
        """Take over what `to_dict` returned."""
        self.moves = [self._worded(_loaded(move)) for move in data["moves"]]
        self.told = list(data["told"])
        self.lengths = {int(episode): int(moves) for episode, moves in data.get("lengths", {}).items()}
        self.past = Past(tuple(PastBatch.from_dict(batch) for batch in data.get("past", ())))
        self._known = None


def _place(data: Any) -> Location:
    return tuple(data) if isinstance(data, list) else data


def _loaded(data: dict[str, Any]) -> Move:
    """A move from plain data, where JSON has lists for points and actions, and files of 0.1.0 know no surprises."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    move = Move(**fields)
    move.surprises = tuple(map(surprise_from, move.surprises))
    move.way = tuple((float(share), _place(place)) for share, place in move.way)
    move.along = tuple(None if one is None else (float(one[0]), _place(one[1])) for one in move.along)
    return move
