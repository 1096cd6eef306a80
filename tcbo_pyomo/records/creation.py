"""Making a campaign file: it appears as a whole or not at all, and never in the place of another file."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tcbo_pyomo.errors import BadInput, DiskError
from tcbo_pyomo.records.file_check import APPLICATION, PAGE_SIZE
from tcbo_pyomo.records.ledger import connect, insert
from tcbo_pyomo.records.migrations import SCHEMA, VERSION
from tcbo_pyomo.records.rows import FIRST, make_row
from tcbo_pyomo.records.sqlite_errors import explained


def create_file(path: Path, definition: dict[str, Any]) -> None:
    """Write a file whose first row is the definition of a campaign."""
    refuse_existing(path)
    try:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        try:
            with explained(path), closing(connect(temporary)) as connection:
                _write(connection, definition)
            _put_in_place(temporary, path)
            _sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError:
        refuse_existing(path)
    except OSError as error:
        raise DiskError(f"{path}: cannot be written ({error.strerror}); no campaign was started") from None


def refuse_existing(path: Path) -> None:
    """Refuse to start a campaign where there is something already."""
    if os.path.lexists(path):
        raise BadInput(f"{path}: exists already; go on with `tcbo ask {path}`, or start under another name")


def _put_in_place(temporary: Path, path: Path) -> None:
    """Give the file its name; a link, unlike a rename, fails where a file of that name has appeared meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # A file system without links.
        refuse_existing(path)
        os.rename(temporary, path)


def _write(connection: sqlite3.Connection, definition: dict[str, Any]) -> None:
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE:d}")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION:d}")
    connection.execute(f"PRAGMA user_version = {VERSION:d}")
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO campaign_head VALUES (1, 0, ?)", (FIRST,))
    insert(connection, [make_row(None, "definition", definition)])
    connection.execute("COMMIT")


def _sync_folder(folder: Path) -> None:
    """The name of a new file is safe once its folder is synced; not every system can open a folder."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
