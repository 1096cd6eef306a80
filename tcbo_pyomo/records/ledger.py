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
from tcbo_pyomo.records.file_damage import (
    check_header,
    damaged,
    explained,
    has_journal,
    is_locked,
    refuse_foreign_schema,
)
from tcbo_pyomo.records.file_format import FIRST, Row, follows, make_row

PATIENCE = 30.0
"""Seconds to wait for another writer; writing takes milliseconds."""


class Writer:
    """Rows to be written when the transaction ends.

    Attributes
    ----------
    rows
        The rows so far.
    format
        The format of the file. In an older one the first row says that it was brought to the present format.
    gains
        What a file of an older format gains on that occasion.
    """

    def __init__(self, last: Row | None, found: int) -> None:
        self._last, self.format = last, found
        self.rows: list[Row] = []
        self.gains: dict[str, Any] = {}

    def append(self, kind: str, body: dict[str, Any], key: str = "") -> Row:
        """One more row."""
        if not self.rows and self.format < file_format.VERSION:
            change = {"from": self.format, "to": file_format.VERSION, **self.gains}
            self.rows.append(make_row(self._last, "migration", change))
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
    format
        The format of the file, when it was read last.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path, self.patience, self.format = path, patience, file_format.VERSION
        self.rows: list[Row] = []

    @property
    def position(self) -> int:
        """How many rows are known."""
        return len(self.rows)

    def refresh(self) -> None:
        """Read the rows that were added since; the first time the whole file is checked."""
        self.format = self._checked_format()
        with explained(self.path), closing(connect(self.path, self.patience)) as connection:
            self._begin(connection, "BEGIN")
            self._read(connection)

    @contextmanager
    def transaction(self) -> Iterator[Writer]:
        """Nobody else writes inside; what the writer holds at the end is on the disk when the block is left."""
        self._checked_format()
        with explained(self.path), closing(connect(self.path, self.patience)) as connection:
            if connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
                # Another program switched it on; older versions of SQLite can damage a WAL that two processes write.
                self._patiently(lambda: connection.execute("PRAGMA journal_mode = DELETE"))
            self._begin(connection, "BEGIN IMMEDIATE")
            try:
                self._read(connection)
                (self.format,) = connection.execute("PRAGMA user_version").fetchone()
                writer = Writer(self.rows[-1] if self.rows else None, self.format)
                yield writer
                if writer.rows:
                    if self.format < file_format.VERSION:
                        file_format.migrate(connection, self.format)
                    insert(connection, writer.rows)
                    self._patiently(lambda: connection.execute("COMMIT"))
            finally:
                _roll_back(connection)
        if writer.rows:
            self.format = file_format.VERSION
            self.rows += writer.rows

    def _checked_format(self) -> int:
        """The format of the file; what a killed process left half written is rolled back before the file is judged."""
        if has_journal(self.path):
            with explained(self.path, damage=False), closing(connect(self.path, self.patience)) as connection:
                self._patiently(lambda: connection.execute("SELECT 1 FROM sqlite_master").fetchone())
        return check_header(self.path, file_format.VERSION)

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
            raise damaged(self.path, f"its end is lost: only {known + len(fresh)} rows are left")
        if not known:
            faults = [text for (text,) in connection.execute("PRAGMA quick_check(1)")]
            if faults != ["ok"]:
                raise damaged(self.path, str(faults[0]).replace("\n", " "))
        self.rows += fresh


def connect(path: Path, patience: float = PATIENCE) -> sqlite3.Connection:
    """A connection with the promises of this file; the file must exist."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=patience)
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
    except UnicodeDecodeError as error:
        # SQLite quotes the name of a table in its message, and that is damaged.
        connection.close()
        raise sqlite3.DatabaseError("the names of its tables are not text") from error
    return connection


def insert(connection: sqlite3.Connection, rows: list[Row]) -> None:
    """Add rows and note the last one, inside the caller's transaction."""
    fields = [(row.number, row.time, row.kind, row.key, row.text, row.chain) for row in rows]
    connection.executemany("INSERT INTO campaign_rows VALUES (?, ?, ?, ?, ?, ?)", fields)
    connection.execute("UPDATE campaign_head SET number = ?, chain = ?", (rows[-1].number, rows[-1].chain))


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
