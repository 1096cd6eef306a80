"""One result becomes one row, or is refused, or was there already."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.records.ledger import Writer
from tcbo_pyomo.records.rebuild import Story
from tcbo_pyomo.records.results import Receipt, Result, broken_limits, measured_value, place_of
from tcbo_pyomo.records.rows import Row
from tcbo_pyomo.records.touched import Touched

LONGEST_KEY = 200


def record_result(campaign: Campaign, story: Story, writer: Writer, move: Move, result: Result) -> Receipt:
    """Tell a result and hand its row to the writer; a result told before is acknowledged again and not written."""
    value = measured_value(campaign, result)
    place = place_of(campaign, move, result.at)
    key = _checked_key(result.key)
    facts: dict[str, Any] = {"move": move.number, "value": value, "replicate": bool(result.replicate)}
    if result.unit is not None:
        facts["given"] = {"value": result.value, "unit": result.unit}
    earlier = _with_key(story, writer, key)
    if earlier is not None:
        return _told_before(campaign, story, earlier, move, facts, key, place)
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


def _with_key(story: Story, writer: Writer, key: str) -> Row | None:
    if not key:
        return None
    return story.keys.get(key) or next((row for row in writer.rows if row.key == key), None)


def _told_before(
    campaign: Campaign, story: Story, row: Row, move: Move, facts: dict[str, Any], key: str, place: Any
) -> Receipt:
    """The same result under the same key is acknowledged; another one is refused."""
    if row.number in story.undone:
        raise BadInput(f"{key}: was recorded and taken back since; tell the result under a new key")
    recorded = {name: row.body[name] for name in ("move", "value", "replicate")}
    if recorded != {name: facts[name] for name in recorded} or place not in (None, move.arrived):
        used = f"move {recorded['move']} = {recorded['value']!r}"
        raise BadInput(f"{key}: was used for {used}; use another key for another result")
    return Receipt(move.number, facts["value"], False, tuple(story.violations.get(move.number, ())))
