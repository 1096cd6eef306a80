"""Formats of the campaign file. A newer format adds one function here, which turns a file of the format before into it.

A migration runs inside one write transaction, the first time that an older file is opened, and leaves a row behind.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

VERSION = 1
"""The format that this version writes; it stands in `PRAGMA user_version`."""

MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}
"""For each older format, the function that makes the next one of it."""

SCHEMA = (
    "CREATE TABLE campaign_rows (number INTEGER PRIMARY KEY, time TEXT, kind TEXT, key TEXT, body TEXT, chain TEXT)",
    "CREATE TABLE campaign_head (id INTEGER PRIMARY KEY, number INTEGER, chain TEXT)",
)
"""All rows, and which one is the last: a lost end is noticed too. No index: rows are few and read as a whole."""


def migrate(connection: sqlite3.Connection, found: int) -> None:
    """Bring an older file to the present format, inside the caller's transaction."""
    for version in range(found, VERSION):
        MIGRATIONS[version](connection)
    connection.execute(f"PRAGMA user_version = {VERSION:d}")
