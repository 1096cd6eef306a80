"""Idempotency keys: a command repeated under the same key changes nothing, so a script may repeat it when in doubt."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.records.file_format import Row, plain
from tcbo_pyomo.records.rebuild import Story

LONGEST_KEY = 200


def checked_key(key: Any) -> str:
    """The key as rows hold it; an empty text where none was given."""
    if key is None:
        return ""
    if not isinstance(key, str) or not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
        raise BadInput(f"key {str(key)[:40]!r} must be a printable text of at most {LONGEST_KEY} characters")
    return f"key {key}"


def refuse_undone(story: Story, row: Row) -> None:
    """Repeating a command does not restore what was undone."""
    if row.number in story.undone:
        raise BadInput(f"{row.key}: was recorded and then undone; use a new key")


class Request:
    """What a command asks for under a key.

    Parameters
    ----------
    kind
        The kind of row that it writes.
    key
        The idempotency key, or None.
    wanted
        What was asked for, as it was given.
    """

    def __init__(self, kind: str, key: Any, **wanted: Any) -> None:
        self.kind, self.key, self._wanted = kind, checked_key(key), plain(wanted)

    @property
    def facts(self) -> dict[str, Any]:
        """What the row keeps, to recognise the same command again."""
        return {"request": self._wanted} if self.key else {}

    def answered(self, story: Story) -> Row | None:
        """The row that this command wrote before; a key that was used for something else is refused."""
        row = story.keys.get(self.key) if self.key else None
        if row is None:
            return None
        refuse_undone(story, row)
        if row.kind != self.kind or row.body.get("request") != self._wanted:
            raise BadInput(f"{row.key}: was used for another command ({row.kind} of {row.time}); use another key")
        return row
