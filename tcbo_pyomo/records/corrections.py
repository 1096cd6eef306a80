"""Corrections: a move that could not be made, and taking back what was told. Each is one more row, never an erasure."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.records.file_format import Row
from tcbo_pyomo.records.rebuild import Story


def skip_move(campaign: Campaign, move: Move, place: Location | None) -> None:
    """No result will come of a move.

    A move not made yet is cancelled when the plant stayed where it was (`place` None), and its step is planned again;
    when the plant is elsewhere that step is used up. A move that was made stays made. What a schedule had after it is
    cancelled.
    """
    if move.value is not None:
        raise BadInput(f"move {move.number} has a result ({move.value!r}); take it back with `undo` before skipping it")
    later = [other for other in campaign.history.moves[move.number :] if not other.cancelled]
    made = move.arrived is not None and not move.scheduled
    if made or (move.scheduled and place is not None and place == move.arrived):
        if place is not None and place != move.arrived:
            raise BadInput(f"move {move.number} is recorded as arrived at {campaign.problem.describe(move.arrived)}")
        move.skipped = True
        campaign.knowledge.forget()
        return
    told = [other.number for other in later if other.value is not None]
    if told or not all(other.scheduled for other in later):
        which = ", ".join(map(str, told or [later[-1].number]))
        raise BadInput(f"move {move.number} cannot be skipped: later moves were asked for or told ({which})")
    for other in later:
        other.cancelled = True
    if place is None or place == move.origin:
        move.arrived, move.cancelled = None, True
    else:
        move.arrived, move.skipped = place, True
    campaign.knowledge.forget()


def give_up_episode(campaign: Campaign) -> list[Move]:
    """End the episode where the plant is, as when no allowed way leads on from there; the next one starts at the start.

    The steps that are left are used up without a move and without a result.
    """
    history = campaign.history
    situation = history.situation()
    if situation.step == 0 or campaign.finished:
        raise BadInput("no episode is under way that could be given up; ask for a move")
    if history.open_move is not None:
        history.open_move.cancelled = True
    left = []
    for step in range(situation.step + 1, history.horizon + 1):
        move = history.add(situation.state, step, None, situation.state)
        move.arrived, move.skipped = situation.state, True
        left.append(move)
    campaign.knowledge.forget()
    return left


def undo_row(campaign: Campaign, story: Story, rows: list[Row], number: int | None) -> tuple[Row, dict[str, Any], bool]:
    """Take back the last tell, arrival or skip (of a move): its row, what leaves the told order, and whether all of it.

    When nothing has been asked for since, everything is as before that row. Otherwise the plant has gone on from where
    it was said to be: only a value can be taken back.
    """
    known = [row for row in story.corrigible if number is None or row.body["move"] == number]
    if not known:
        what = "" if number is None else f" for move {number}"
        raise BadInput(f"nothing to undo{what}: no result, arrival or skip stands")
    row = known[-1]
    body = row.body
    since = [other.body.get("moves", ()) for other in rows[row.number :]]
    touched = {move["number"] for move in body["moves"]}
    untouched = not any(move["number"] in touched for moves in since for move in moves)
    whole = untouched and story.last_ask < row.number
    if not whole and row.kind != "tell":
        raise BadInput(
            f"the {row.kind} of move {body['move']} cannot be taken back: moves were asked for after it; say where the "
            "plant is with `skip --at` or `tell --at`"
        )
    change = _take_value(campaign, story, row) if row.kind == "tell" else {}
    if whole:
        _put_back(campaign, rows[: row.number - 1], touched)
    campaign.knowledge.replay(campaign.knowledge.kernel)
    return row, change, whole


def _take_value(campaign: Campaign, story: Story, row: Row) -> dict[str, Any]:
    """Remove one value of a move; a replicate takes the place of the first result."""
    history, number = campaign.history, row.body["move"]
    move = history.moves[number - 1]
    order = [other.number for other in story.corrigible if other.kind == "tell" and other.body["move"] == number]
    which = order.index(row.number)
    values = [value for position, value in enumerate(move.values) if position != which]
    move.value, move.replicates = (values[0], tuple(values[1:])) if values else (None, ())
    place = [position for position, told in enumerate(history.told) if told == number][which]
    del history.told[place]
    return {"untold": place}


def _put_back(campaign: Campaign, rows: list[Row], numbers: set[int]) -> None:
    """Moves as the last of the rows that touched them left them."""
    missing = set(numbers)
    for row in reversed(rows):
        for data in row.body.get("moves", ()):
            if data["number"] in missing:
                missing.discard(data["number"])
                move = campaign.history.moves[data["number"] - 1]
                kept = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
                vars(move).update(kept)
        if not missing:
            return
