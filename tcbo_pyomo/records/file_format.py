"""What a campaign file holds: rows in a SHA-256 chain, in the tables of one format.

    chain_n = SHA-256(chain_{n-1}, n, time, kind, key, body),   chain_0 = 64 zeros

A changed, missing or exchanged row breaks the chain from there on. Bodies are JSON text, in which every digit counts. Files of
every older format can be read. The first write to one brings it to the present format, in the transaction of that write, and
leaves a row behind: a newer format adds one migration here, which turns a file of the format before into it.

Format 1 is that of 0.1.0, where every row repeats the results of the moves it touches. In format 2 a result stands in the row
of its tell alone. Format 3 has rows of past experiments.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

VERSION = 3
"""The format that this version writes, in `PRAGMA user_version`."""
RESULTS_ONCE = 2
"""The format since which a result is in one row, and files hold their limits."""


def _results_once(connection: sqlite3.Connection) -> None:
    """Rows of format 1 are read as they are, and never changed; the tables are the same."""


def _past_experiments(connection: sqlite3.Connection) -> None:
    """Two more kinds of rows; the tables are the same. A version that does not know them must not go on with the file."""


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _results_once, 2: _past_experiments}
"""For each older format, the function that makes the next one of it."""

SCHEMA = (
    "CREATE TABLE campaign_rows (number INTEGER PRIMARY KEY, time TEXT, kind TEXT, key TEXT, body TEXT, chain TEXT)",
    "CREATE TABLE campaign_head (id INTEGER PRIMARY KEY, number INTEGER, chain TEXT)",
)
"""All rows, and which one is the last: a lost end is noticed too. No index: rows are few and read as a whole."""

FIRST = "0" * 64
"""What the first row is chained to."""


@dataclass(frozen=True)
class Row:
    """One thing that happened.

    Attributes
    ----------
    number
        Counts the rows from 1.
    time
        When it was recorded, UTC.
    kind
        definition, amend, ask, arrive, tell, confirm, skip, undo, give_up, data, withdraw or migration.
    key
        The idempotency key of a report or correction; an empty text elsewhere.
    text
        The body as JSON text.
    chain
        The digest of this row and, through its predecessor, of all before it.
    """

    number: int
    time: str
    kind: str
    key: str
    text: str
    chain: str

    @property
    def body(self) -> dict[str, Any]:
        """What was recorded, as plain data."""
        return dict(json.loads(self.text))


def make_row(previous: Row | None, kind: str, body: dict[str, Any], key: str = "") -> Row:
    """The row that follows another one."""
    number = 1 if previous is None else previous.number + 1
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    text = json.dumps(plain(body), allow_nan=False, separators=(",", ":"))
    chain = link(FIRST if previous is None else previous.chain, number, time, kind, key, text)
    return Row(number, time, kind, key, text, chain)


def link(before: str, number: int, time: str, kind: str, key: str, text: str) -> str:
    """The digest of a row and of the digest before it."""
    return hashlib.sha256(json.dumps([before, number, time, kind, key, text]).encode()).hexdigest()


def follows(row: Row, before: str, number: int) -> bool:
    """Whether a row is the one with this number, and what was written after `before`."""
    return row.number == number and row.chain == link(before, row.number, row.time, row.kind, row.key, row.text)


def plain(value: Any) -> Any:
    """Data that JSON can hold: numpy numbers as numbers, tuples as lists, NaN and infinity as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def migrate(connection: sqlite3.Connection, found: int) -> None:
    """Bring an older file to the present format, inside the caller's transaction."""
    for version in range(found, VERSION):
        MIGRATIONS[version](connection)
    connection.execute(f"PRAGMA user_version = {VERSION:d}")
