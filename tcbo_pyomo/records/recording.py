"""What an ask or a tell adds to the file: moves with their plans, one result as one row, and the moves a call changed."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.records.file_format import Row
from tcbo_pyomo.records.ledger import Writer
from tcbo_pyomo.records.rebuild import Story
from tcbo_pyomo.records.results import Receipt, Result, broken_limits, measured_value, place_of

LONGEST_KEY = 200


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
        self._before = [(other, dict(vars(other))) for other in watched]

    def changed(self) -> list[dict[str, Any]]:
        """The moves that changed or are new, as they are now."""
        changed = [dict(vars(move)) for move, before in self._before if vars(move) != before]
        return [*changed, *(dict(vars(move)) for move in self._history.moves[self._length :])]


def plan_moves(campaign: Campaign, whole: bool) -> tuple[list[Move], list[dict[str, Any]]]:
    """The next move, or with `whole` the rest of the episode, and how each move was found."""
    known = len(campaign.history.moves)
    moves = campaign.ask_episode() if whole else [campaign.ask()]
    plans = campaign.plans
    found = {move.number: plans.get(move.number) if move.number > known else None for move in moves}
    return moves, [{"move": number, "plan": plan} for number, plan in found.items()]


def waiting_schedule(history: History) -> list[Move]:
    """The last schedule asked for, while results are to come, the plant keeps to it, and nothing was asked since."""
    kept = [move for move in history.moves if not move.cancelled]
    if not kept or not kept[-1].scheduled or kept[-1].step < history.horizon:
        return []
    schedule = [move for move in kept if move.scheduled and move.episode == kept[-1].episode]
    return schedule if any(move.value is None and not move.skipped for move in schedule) else []


def record_result(campaign: Campaign, story: Story, writer: Writer, move: Move, result: Result) -> Receipt:
    """Tell a result and hand its row to the writer; a result told before is acknowledged again and not written."""
    value = measured_value(campaign, result)
    place = place_of(campaign, move, result.at)
    key = _checked_key(result.key)
    facts: dict[str, Any] = {"move": move.number, "value": value, "replicate": bool(result.replicate)}
    if result.unit is not None:
        facts["given"] = {"value": result.value, "unit": result.unit}
    earlier = story.keys.get(key) or next((row for row in writer.rows if row.key == key), None)
    if earlier is not None:
        return _told_before(story, earlier, move, facts, place)
    if not result.replicate and value == move.value and place in (None, move.arrived):
        return Receipt(move.number, value, False, tuple(story.violations.get(move.number, ())))
    touched = Touched(campaign.history, move)
    campaign.tell(move.number, value, place, bool(result.replicate))
    broken = broken_limits(campaign, move)
    elsewhere = move.expected is not None and move.arrived != move.expected
    facts |= {"elsewhere": elsewhere, "told": move.number, "moves": touched.changed()}
    facts["violations"] = {move.number: broken}
    writer.append("tell", facts, key or f"tell {len(story.keys) + len(writer.rows) + 1}")
    return Receipt(move.number, value, True, broken)


def _checked_key(key: Any) -> str:
    if key is None:
        return ""
    if not isinstance(key, str) or not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
        raise BadInput(f"key {str(key)[:40]!r} must be a printable text of at most {LONGEST_KEY} characters")
    return f"key {key}"


def _told_before(story: Story, row: Row, move: Move, facts: dict[str, Any], place: Location | None) -> Receipt:
    """The same result under the same key is acknowledged; another one is refused."""
    if row.number in story.undone:
        raise BadInput(f"{row.key}: was recorded and taken back since; tell the result under a new key")
    recorded = {name: row.body[name] for name in ("move", "value", "replicate")}
    if recorded != {name: facts[name] for name in recorded} or place not in (None, move.arrived):
        used = f"move {recorded['move']} = {recorded['value']!r}"
        raise BadInput(f"{row.key}: was used for {used}; use another key for another result")
    return Receipt(move.number, facts["value"], False, tuple(story.violations.get(move.number, ())))
