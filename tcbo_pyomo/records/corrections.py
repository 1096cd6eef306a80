"""Corrections: a move that could not be made, and an undo of what was told. Each adds a row; nothing is erased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.wording import counted
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.records.file_format import Row
from tcbo_pyomo.records.rebuild import PAST, RESULTS, Fact, Story


def skip_move(campaign: Campaign, move: Move, place: Location | None) -> bool:
    """No result will come of a move; whether that is new.

    A move not made yet is cancelled when the plant stayed where it was (`place` None or its origin), together with what a
    schedule had after it, and its step is planned again. When the plant is elsewhere that step is used up. A move that was
    made stays made.
    """
    if move.value is not None:
        raise BadInput(
            f"move {move.number} has a result ({move.value!r}); use `undo --move {move.number}` first"
        )
    if move.skipped and place in (None, move.arrived):
        return False
    assumed = [other for other in campaign.history.assumed if other.number >= move.number]
    to_be_made = move.arrived is None or move in assumed
    stayed = place is None or (place == move.origin and place != move.expected)
    if to_be_made and stayed:
        for other in (move, *assumed):
            other.cancelled = True
        campaign.knowledge.forget()
        return True
    campaign.arrive(move.number, place)
    move.skipped, move.scheduled = True, False
    campaign.knowledge.forget()
    return True


def give_up_episode(campaign: Campaign) -> list[Move]:
    """End the episode where the plant is, as when no allowed way leads on from there; the next one starts at the start.

    The steps that are left are used up without a move and without a result.
    """
    history = campaign.history
    ahead = history.assumed if history.open_move is None else [history.open_move]
    last = next((move for move in reversed(history.moves) if move.made and move not in ahead), None)
    if last is None or not 0 < last.step < history.length(last.episode):
        raise BadInput(
            "no episode is under way to end: ask for a move, or `skip` the one that cannot be made"
        )
    for move in ahead:
        move.cancelled = True
    situation = history.situation()
    left = []
    for step in range(situation.step + 1, history.length(last.episode) + 1):
        move = history.add(situation.state, step, None, situation.state)
        move.arrived, move.skipped = situation.state, True
        left.append(move)
    campaign.knowledge.forget()
    return left


@dataclass(frozen=True)
class Undoing:
    """What an undo cancels.

    Attributes
    ----------
    fact
        What it cancels.
    whole
        Whether everything is as before; otherwise only a value is undone.
    body
        What its own row says.
    """

    fact: Fact
    whole: bool
    body: dict[str, Any]

    def in_words(self) -> str:
        """What was undone."""
        value = f" ({self.fact.value!r})" if self.fact.kind == "tell" else ""
        return f"{_named(self.fact)}{value}"


def undoing(story: Story, rows: list[Row], number: int | None) -> Undoing:
    """How to undo the last result, arrival or skip that is still valid (of a move).

    When nothing has been asked for since, everything is as before that row. Otherwise the plant has moved on from where
    it was said to be: only a value can be undone.
    """
    known = [fact for fact in story.facts.values() if number is None or _is_about(fact, number)]
    if not known:
        what = "" if number is None else f" for move {number}"
        raise BadInput(f"nothing to undo{what}: there is no result, arrival or skip")
    fact = known[-1]
    if fact.kind in PAST:
        # Past experiments are no moves: whatever was asked for since, they can be removed, and added again.
        return Undoing(fact, True, {"move": None, "undoes": fact.row, "moves": []})
    later = [other for other in story.facts.values() if other.row > fact.row]
    went_on = story.last_ask > fact.row or any(other.kind == "give_up" for other in later)
    whole = not went_on and not any(other.touched & fact.touched for other in later)
    if not whole and fact.kind != "tell":
        raise BadInput(
            f"{_named(fact)} cannot be undone: moves were asked for, or the plant was amended, after it; report where the "
            "plant is with `skip --at` or `tell --at`"
        )
    change = _before(rows[: fact.row - 1], fact.touched) if whole else {"moves": []}
    return Undoing(fact, whole, {"move": fact.move, "undoes": fact.row, **change})


def _is_about(fact: Fact, number: int) -> bool:
    return fact.move == number or (fact.kind == "give_up" and number in fact.touched)


def _named(fact: Fact) -> str:
    if fact.past is not None and fact.kind == "data":
        data = fact.past["data"]
        return f"data {data['number']}, {counted(len(data['results']), 'past result')} from {data['source']}"
    if fact.past is not None:
        return f"the removal of {fact.past['words']}"
    return "the skip of the rest of the episode" if fact.kind == "give_up" else f"the {fact.kind} of move {fact.move}"


def _before(rows: list[Row], numbers: frozenset[int]) -> dict[str, Any]:
    """Moves as the last of the rows that touched them left them, and how many there are where some were not there yet."""
    found: dict[int, dict[str, Any]] = {}
    new: set[int] = set()
    for row in reversed(rows):
        if len(found) + len(new) == len(numbers):
            break
        body = row.body
        new |= {number for number in numbers - set(found) if number > body.get("length", number)}
        for data in body.get("moves", ()):
            if data["number"] in numbers - new:
                found.setdefault(data["number"], data)
    new |= numbers - set(found)
    moves = [{name: value for name, value in found[number].items() if name not in RESULTS} for number in sorted(found)]
    return {"moves": moves, **({"length": min(new) - 1} if new else {})}


def place_left(story: Story, problem: ProblemProtocol, move: Move) -> str:
    """Where the plant is still recorded to be after a result was undone, and how to correct that; empty if nowhere."""
    if not move.made or move.scheduled or move.value is not None:
        return ""
    reports = [fact.row for fact in story.facts.values() if fact.move == move.number]
    undone_too = f"if that is wrong too, repeat `undo --move {move.number}`"
    correction = undone_too if reports and reports[-1] > story.last_ask else "later moves started there"
    return f"; it is still recorded as arrived at {problem.place_words(move.arrived)}: {correction}"
