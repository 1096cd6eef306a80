"""What SQLite says, as one of our errors: busy, disk, or damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tcbo_pyomo.errors import Busy, DiskError, TcboError
from tcbo_pyomo.records.file_check import damaged

DISK = {
    sqlite3.SQLITE_PERM: "there is no permission to write it",
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_CANTOPEN: "it or its journal cannot be opened",
}
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
TORN = (sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise what SQLite raises inside as an error of this package."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explanation(path, error) from error


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another process holds the file."""
    return _code(error) & 0xFF in LOCKED


def _explanation(path: Path, error: sqlite3.Error) -> TcboError:
    code = _code(error)
    if is_locked(error):
        return Busy(f"{path}: another process has been writing to it for too long; nothing was written, try again")
    if code & 0xFF in DISK and code not in TORN:
        return DiskError(
            f"{path}: cannot be written, {DISK[code & 0xFF]} ({error}); what was recorded before is kept, nothing was "
            "added; free or unlock the disk and repeat the command"
        )
    return damaged(path, str(error))


def _code(error: sqlite3.Error) -> int:
    # Errors that Python's own layer raises, as for text that is not UTF-8, carry no code: they are damage.
    return int(getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_CORRUPT)
