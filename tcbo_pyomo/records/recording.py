"""What a call adds to the file: moves with their plans, one result as one row, and what the call changed."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.plant.measured_moments import moment_of
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.records.file_format import Row
from tcbo_pyomo.records.idempotency import checked_key, refuse_undone
from tcbo_pyomo.records.ledger import Writer
from tcbo_pyomo.records.model_summary import model_summary
from tcbo_pyomo.records.rebuild import Story, data_of
from tcbo_pyomo.records.results import Receipt, Result, measured_value, place_of
from tcbo_pyomo.records.violations import changed_violations


class Recorder:
    """The rows of one call, and the story as it will be with them.

    Attributes
    ----------
    story
        A copy that holds the rows of this call too; it counts once they are on the disk.
    """

    def __init__(self, story: Story, writer: Writer) -> None:
        self.story, self._writer = story.copy(), writer

    def add(self, kind: str, facts: dict[str, Any], key: str = "") -> Row:
        """One more row."""
        known = len(self._writer.rows)
        row = self._writer.append(kind, facts, key)
        for new in self._writer.rows[known:]:
            self.story.add(new)
        return row


class Touched:
    """Moves as they were before a change.

    Parameters
    ----------
    history
        All moves.
    move
        The only move that can change, unless it is one of a schedule; None where any may.
    """

    def __init__(self, history: History, move: Move | None = None) -> None:
        self._history, self._length = history, len(history.moves)
        watched = history.moves if move is None or move.scheduled else [move]
        self._before = [(other, data_of(other)) for other in watched]

    def facts(self, campaign: Campaign, story: Story) -> dict[str, Any]:
        """The moves that changed or are new, as they are now, and what became of the limits that moves broke."""
        changed = [(move, before) for move, before in self._before if data_of(move) != before]
        new = self._history.moves[self._length :]
        # Where the plant was decides about limits, not what was measured there.
        places = [
            move
            for move, before in changed
            if (move.arrived, move.cancelled) != (before["arrived"], before["cancelled"])
        ]
        episodes = {move.episode for move in (*places, *(move for move in new if move.made))}
        moves = [*(data_of(move) for move, _ in changed), *map(data_of, new)]
        return {"moves": moves, "violations": changed_violations(campaign, story.violations, episodes)}


def plan_moves(campaign: Campaign, whole: bool, anyway: bool) -> tuple[list[Move], list[dict[str, Any]]]:
    """The next move, or with `whole` the rest of the episode, and how each move was found; `anyway` as in `Campaign.ask`."""
    known = len(campaign.history.moves)
    moves = campaign.ask_episode(anyway) if whole else [campaign.ask(anyway)]
    plans = campaign.plans
    found = {move.number: plans.get(move.number) if move.number > known else None for move in moves}
    return moves, [{"move": number, "plan": plan} for number, plan in found.items()]


def told_before(story: Story, campaign: Campaign, result: Result) -> Receipt | None:
    """The receipt of a result that was told under the same key; None where the key is new, and another result is refused."""
    row = story.keys.get(checked_key(result.key)) if result.key is not None else None
    if row is None:
        return None
    refuse_undone(story, row)
    body = row.body
    move = campaign.history.moves[body["move"] - 1] if row.kind == "tell" else None
    same = move is not None and result.number in (None, move.number)
    if move is None or not same or not _repeats(campaign, move, result, body):
        used = f"{row.kind} of move {body.get('move')}" + (f" = {body['value']!r}" if move is not None else "")
        raise BadInput(f"{row.key}: was used for another command ({used}); use another key for another result")
    return Receipt(move.number, body["value"], False, tuple(story.violations.get(move.number, ())))


def _repeats(campaign: Campaign, move: Move, result: Result, body: dict[str, Any]) -> bool:
    """Whether a result is the one of a row: its value, whether it is a replicate, and its place as far as one is given."""
    same = (measured_value(campaign, result), bool(result.replicate)) == (body["value"], body["replicate"])
    return same and place_of(campaign, move, result.at) in (None, move.arrived)


def record_result(campaign: Campaign, recorder: Recorder, move: Move, result: Result, last: bool = True) -> Receipt:
    """Tell a result and record its row; a result told before is acknowledged again and not written.

    The last one of a call also says what the model makes of all of them.
    """
    story, value = recorder.story, measured_value(campaign, result)
    place = place_of(campaign, move, result.at)
    broken = tuple(story.violations.get(move.number, ()))
    if result.time is not None and _told_at(campaign, move, value, result.time):
        return Receipt(move.number, value, False, broken)
    if result.time is not None and move.value is not None:
        result = replace(result, replicate=True)  # A value with a time of its own is a further one.
    if not result.replicate and move.value is not None:
        there = place in (None, move.arrived)
        confirmed = there and result.confirm and _confirm(recorder, move, value)
        if confirmed:
            campaign.knowledge.believed_after_all()
        if confirmed or (there and value == move.value):
            return Receipt(move.number, value, confirmed, broken)
        raise BadInput(_told_already(campaign, move))
    refuse_elsewhere(campaign, move, place)
    touched = Touched(campaign.history, move)
    surprise = campaign.tell(
        move.number, value, place, bool(result.replicate), bool(result.confirm), time=result.time
    )
    elsewhere = move.expected is not None and move.arrived != move.expected
    facts: dict[str, Any] = {"move": move.number, "value": value, "replicate": bool(result.replicate)}
    if result.unit is not None:
        facts["given"] = {"value": result.value, "unit": result.unit}
    if move.along and move.along[-1] is not None:
        facts["along"] = move.along[-1]
    if surprise is not None:
        facts["surprise"] = asdict(surprise)
    facts |= {"elsewhere": elsewhere, "told": move.number, **touched.facts(campaign, story)}
    if last:
        facts["model"] = model_summary(campaign).to_dict(story.model)
    recorder.add("tell", facts, checked_key(result.key))
    broken = tuple(recorder.story.violations.get(move.number, ()))
    return Receipt(move.number, value, True, broken, surprise)


def _told_at(campaign: Campaign, move: Move, value: float, time: float) -> bool:
    """Whether a value of a series is known already: telling the series again changes nothing."""
    share = moment_of(move.number, time, campaign.problem.step_duration)
    known = [1.0 if along is None else along[0] for along in move.along or (None,) * len(move.values)]
    return (share, value) in zip(known, move.values, strict=True)


def _confirm(recorder: Recorder, move: Move, value: float) -> bool:
    """A surprising result that was told is right all the same; whether there is one that was not confirmed yet."""
    facts = [fact for fact in recorder.story.results if fact.move == move.number]
    for position, fact in enumerate(facts):
        if fact.value == value and fact.surprise is not None and not fact.surprise.confirmed:
            recorder.add("confirm", {"move": move.number, "confirms": fact.row})
            surprise = replace(fact.surprise, confirmed=True)
            move.surprises = (*move.surprises[:position], surprise, *move.surprises[position + 1 :])
            return True
    return False


def _told_already(campaign: Campaign, move: Move) -> str:
    where = campaign.problem.place_words(move.arrived)
    return (
        f"move {move.number} already has a result ({move.value!r} at {where}); use `undo --move {move.number}` to correct it, "
        "or --replicate for a repeated measurement of the same visit"
    )


def refuse_elsewhere(campaign: Campaign, move: Move, place: Location | None) -> None:
    """Where a move led is reported once; another place is a correction."""
    if move.reported and place not in (None, move.arrived):
        where = campaign.problem.place_words(move.arrived)
        raise BadInput(
            f"move {move.number} is recorded as arrived at {where}; if that is wrong, use `undo --move {move.number}` "
            "first"
        )
