"""What may be wrong with a campaign file: another file, a damaged or a newer one, a busy one, a disk that fails.

The kind of a file is judged from its first 100 bytes, before SQLite may change it. Only a write that a killed process left
unfinished is undone first: until then those bytes may be anything. The fields are those of sqlite.org/fileformat2.html. What
SQLite says later becomes one of our errors.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tcbo_pyomo.errors import BadInput, Busy, DamagedFile, DiskError, TcboError
from tcbo_pyomo.foundation.limited_read import is_ordinary

APPLICATION = int.from_bytes(b"tcbo", "big")
"""The application id in the header of every campaign file."""
MAGIC = b"SQLite format 3\x00"
JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""The first bytes of a rollback journal."""
PAGE_SIZE = 4096
RECOVER = "the file is unchanged: restore a copy, or recover what is readable with `sqlite3 {path} .recover`"
DISK = {
    sqlite3.SQLITE_PERM: "no permission to write it",
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_CANTOPEN: "it or its journal cannot be opened",
}
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
TORN = (sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS)


def damaged(path: Path, why: str) -> DamagedFile:
    """The error for a file that is not what was written."""
    return DamagedFile(f"{path}: is damaged ({why}); {RECOVER.format(path=path)}")


@contextmanager
def meaningful(path: Path) -> Iterator[None]:
    """Rows with a right chain may still hold nonsense, if another program wrote them: say so instead of a traceback."""
    try:
        yield
    except TcboError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise damaged(path, f"its rows do not describe a campaign: {type(error).__name__}") from error


def has_journal(path: Path) -> bool:
    """Whether SQLite may have to undo a write that was never finished: a journal with the mark of one is beside the file."""
    try:
        with open(f"{path}-journal", "rb") as journal:
            return journal.read(len(JOURNAL)) == JOURNAL
    except OSError:
        return False


def check_header(path: Path, version: int) -> int:
    """The format of a campaign file that this version (`version`) can read; everything else is refused."""
    if path.exists() and not is_ordinary(path):
        raise BadInput(f"{path}: is a folder, a device or a pipe, not a campaign file; nothing was changed")
    try:
        with open(path, "rb") as file:
            header = file.read(100)
            size = file.seek(0, 2)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}); create a campaign with `tcbo start`") from None
    if not header.startswith(MAGIC) or len(header) < 100:
        _refuse_other(path, header, size)
    if int.from_bytes(header[68:72], "big") != APPLICATION:
        if _has_our_table(path):
            raise damaged(path, "its header lacks the mark of a campaign file")
        raise BadInput(f"{path}: is an SQLite file of another program, not a campaign; nothing was changed")
    # Page size, read and write version, reserved space, payload fractions, text encoding: as we write them.
    sound = int.from_bytes(header[16:18], "big") == PAGE_SIZE and header[18:24] in (
        bytes([1, 1, 0, 64, 32, 32]),
        bytes([2, 2, 0, 64, 32, 32]),
    )
    if not sound or int.from_bytes(header[56:60], "big") != 1 or size % PAGE_SIZE:
        raise damaged(path, "its header or its length is not that of a campaign file")
    found = int.from_bytes(header[60:64], "big")
    if found > version:
        raise BadInput(
            f"{path}: was written in format {found}, this version reads up to {version}; update tcbo_pyomo "
            "(or, if the header is damaged, restore a copy); the file is unchanged"
        )
    if found < 1:
        raise damaged(path, "its header names no format")
    return found


def _refuse_other(path: Path, header: bytes, size: int) -> None:
    """Neither an SQLite file nor nothing: a campaign whose start is lost, or something else."""
    if b"tcbo" in header or (header[:6] == MAGIC[:6] and size):
        raise damaged(path, "its first bytes are not those of an SQLite file")
    what = "is empty" if size == 0 else "is not a campaign file"
    raise BadInput(f"{path}: {what}; create a campaign with `tcbo start`; nothing was changed")


def _has_our_table(path: Path) -> bool:
    """Whether the tables of a campaign are in a file, read without locks and without any trace on the disk."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'campaign_rows'").fetchone() is not None
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def refuse_foreign_schema(path: Path, connection: sqlite3.Connection) -> None:
    """Views and triggers, which another program put into a file, could compute forever: only our plain tables are read."""
    found = connection.execute("SELECT type, name, rootpage FROM sqlite_master").fetchall()
    tables = {name for kind, name, page in found if kind == "table" and page}
    kinds = {kind for kind, _, page in found if kind in ("view", "trigger") or not page}
    if kinds or not {"campaign_rows", "campaign_head"} <= tables:
        what = f"it holds a {sorted(kinds)[0]}" if kinds else "a table is missing"
        raise damaged(path, f"{what}, which no campaign file has")


@contextmanager
def explained(path: Path, damage: bool = True) -> Iterator[None]:
    """Raise what SQLite raises inside as an error of this package; without `damage` only a busy file or a failing disk."""
    try:
        yield
    except sqlite3.Error as error:
        found = _explanation(path, error)
        if damage or not isinstance(found, DamagedFile):
            raise found from error


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another process holds the file."""
    return _code(error) & 0xFF in LOCKED


def _explanation(path: Path, error: sqlite3.Error) -> TcboError:
    code = _code(error)
    if is_locked(error):
        return Busy(f"{path}: another process has locked it for too long; nothing was written; try again")
    if code & 0xFF in DISK and code not in TORN:
        return DiskError(
            f"{path}: cannot be written, {DISK[code & 0xFF]} ({error}); earlier records are kept, nothing was "
            "added; free or unlock the disk and repeat the command"
        )
    return damaged(path, str(error))


def _code(error: sqlite3.Error) -> int:
    # Errors that Python's own layer raises, as for text that is not UTF-8, carry no code: they are damage.
    return int(getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_CORRUPT)
