"""The campaign file: rows are appended and read, never changed.

What is acknowledged is on the disk: journal_mode=DELETE with synchronous=EXTRA syncs the journal, the file and the
folder before a commit returns. Every write begins with BEGIN IMMEDIATE, so that writers queue and never deadlock. A
connection lives for one transaction: nothing is held while a campaign thinks, and a process may fork in between.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tcbo_pyomo.errors import DamagedFile
from tcbo_pyomo.records import file_format
from tcbo_pyomo.records.file_damage import check_header, damaged, explained, is_locked, refuse_foreign_schema
from tcbo_pyomo.records.file_format import FIRST, Row, follows, make_row

PATIENCE = 30.0
"""Seconds to wait for another writer; writing takes milliseconds."""


class Writer:
    """Rows to be written when the transaction ends."""

    def __init__(self, last: Row | None) -> None:
        self._last = last
        self.rows: list[Row] = []

    def append(self, kind: str, body: dict[str, Any], key: str = "") -> Row:
        """One more row."""
        row = make_row(self.rows[-1] if self.rows else self._last, kind, body, key)
        self.rows.append(row)
        return row


class Ledger:
    """A campaign file and the rows read from it so far.

    Attributes
    ----------
    path
        The file.
    rows
        All rows known, checked against the chain.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path, self.patience = path, patience
        self.rows: list[Row] = []

    @property
    def position(self) -> int:
        """How many rows are known."""
        return len(self.rows)

    def refresh(self) -> None:
        """Read the rows that were added since; the first time the whole file is checked."""
        found = check_header(self.path, file_format.VERSION)
        if found < file_format.VERSION:
            self._migrate(found)
        with explained(self.path), closing(connect(self.path, self.patience)) as connection:
            self._begin(connection, "BEGIN")
            self._read(connection)

    @contextmanager
    def transaction(self) -> Iterator[Writer]:
        """Nobody else writes inside; what the writer holds at the end is on the disk when the block is left."""
        check_header(self.path, file_format.VERSION)
        with explained(self.path), closing(connect(self.path, self.patience)) as connection:
            if connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
                # Another program switched it on; older versions of SQLite can damage a WAL that two processes write.
                self._patiently(lambda: connection.execute("PRAGMA journal_mode = DELETE"))
            self._begin(connection, "BEGIN IMMEDIATE")
            try:
                self._read(connection)
                writer = Writer(self.rows[-1] if self.rows else None)
                yield writer
                if writer.rows:
                    insert(connection, writer.rows)
                    self._patiently(lambda: connection.execute("COMMIT"))
            finally:
                _roll_back(connection)
        self.rows += writer.rows

    def _patiently(self, action: Callable[[], Any]) -> None:
        """Do what needs a lock; where another process holds it, wait, with growing pauses."""
        deadline, pause = time.monotonic() + self.patience, 0.001
        while True:
            try:
                action()
                return
            except sqlite3.Error as error:
                if not is_locked(error) or time.monotonic() > deadline:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def _begin(self, connection: sqlite3.Connection, statement: str) -> None:
        """Start a transaction and take its lock now, not at some later statement."""

        def begin() -> None:
            try:
                connection.execute(statement)
                refuse_foreign_schema(self.path, connection)
                connection.execute("SELECT number FROM campaign_head").fetchone()
            except (sqlite3.Error, DamagedFile):
                _roll_back(connection)
                raise

        self._patiently(begin)

    def _read(self, connection: sqlite3.Connection) -> None:
        """Take over new rows; whatever does not fit the chain, or the last row noted, is damage."""
        known = self.position
        before = self.rows[-1].chain if self.rows else FIRST
        query = "SELECT number, time, kind, key, body, chain FROM campaign_rows WHERE number > ? ORDER BY number"
        fresh: list[Row] = []
        for fields in connection.execute(query, (known,)):
            row = Row(*fields)
            number = known + len(fresh) + 1
            if not all(isinstance(field, str) for field in fields[1:]) or not follows(row, before, number):
                raise damaged(self.path, f"row {number} does not match its SHA-256; rows before it are intact")
            fresh.append(row)
            before = row.chain
        head = connection.execute("SELECT number, chain FROM campaign_head").fetchone()
        if head != (known + len(fresh), before):
            raise damaged(self.path, f"its end is lost: {known + len(fresh)} rows are left of those that were written")
        if not known:
            faults = [text for (text,) in connection.execute("PRAGMA quick_check(1)")]
            if faults != ["ok"]:
                raise damaged(self.path, str(faults[0]).replace("\n", " "))
        self.rows += fresh

    def _migrate(self, found: int) -> None:
        with explained(self.path), closing(connect(self.path, self.patience)) as connection:
            self._begin(connection, "BEGIN IMMEDIATE")
            try:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                if version < file_format.VERSION:  # Another process may have been faster.
                    self._read(connection)
                    file_format.migrate(connection, version)
                    change = {"from": found, "to": file_format.VERSION}
                    insert(connection, [make_row(self.rows[-1], "migration", change)])
                    self._patiently(lambda: connection.execute("COMMIT"))
            finally:
                _roll_back(connection)


def connect(path: Path, patience: float = PATIENCE) -> sqlite3.Connection:
    """A connection with the promises of this file; the file must exist."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=patience)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def insert(connection: sqlite3.Connection, rows: list[Row]) -> None:
    """Add rows and note the last one, inside the caller's transaction."""
    fields = [(row.number, row.time, row.kind, row.key, row.text, row.chain) for row in rows]
    connection.executemany("INSERT INTO campaign_rows VALUES (?, ?, ?, ?, ?, ?)", fields)
    connection.execute("UPDATE campaign_head SET number = ?, chain = ?", (rows[-1].number, rows[-1].chain))


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
