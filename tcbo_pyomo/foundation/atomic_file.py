"""JSON files that are complete or not replaced at all, and that show any damage by their checksum."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from tcbo_pyomo.errors import BadInput, DamagedFile, DiskError
from tcbo_pyomo.foundation.limited_read import read_limited

LARGEST_FILE = 1_000_000_000
"""Bytes of a file that is read back; a campaign of a hundred thousand moves is smaller."""


SQLITE, CHECKED = b"SQLite format 3\x00", b'{"format": "tcbo_'
"""How campaign files begin: those of `tcbo start`, and those that `write_checked` writes."""


def write_atomically(path: Path, data: bytes, at_once: bool = True) -> None:
    """Write a file so that it is either complete or not replaced at all; never in place of a campaign or a device.

    Unless it has to be on the disk `at_once`, a power cut may damage it: for what shows damage and can be made again.
    """
    refuse_to_replace(path)
    _replace(path, data, at_once)


def refuse_to_replace(path: Path, kind: str | None = None) -> None:
    """Refuse to put a file in place of a folder, a device or a pipe, or of a campaign, however it was typed.

    A file that `write_checked` has written may be replaced by one of the same `kind`.
    """
    try:
        there = os.stat(path).st_mode
    except OSError:
        return
    if stat.S_ISDIR(there) and kind is not None:
        return  # The disk will say so.
    if not stat.S_ISREG(there):
        raise BadInput(f"{path}: is a folder, a device or a pipe and is not overwritten; choose another name")
    try:
        with open(path, "rb") as file:
            begin = file.read(100)
    except OSError as error:
        raise DiskError(f"{path}: exists and cannot be read ({error.strerror}); choose another name") from None
    replaceable = kind is not None and begin.startswith(CHECKED.replace(b"tcbo_", kind.encode()))
    lost = path.suffix == ".db" or begin.startswith(SQLITE) or begin[68:72] == b"tcbo"
    if lost or (begin.startswith(CHECKED) and not replaceable):
        raise BadInput(f"{path}: holds a campaign or a study and is not overwritten; choose another name")


def _replace(path: Path, data: bytes, at_once: bool) -> None:
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if at_once:
                    file.flush()
                    os.fsync(file.fileno())
            os.chmod(temporary, _ordinary_mode())
            os.replace(temporary, path)
            if at_once:
                synchronise_folder(path.parent)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DiskError(f"{path}: cannot be written ({error.strerror}); its earlier content is unchanged") from None


def _ordinary_mode() -> int:
    """The mode of a new file; a temporary one is private."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def synchronise_folder(folder: Path) -> None:
    """Make the new name of a file outlive a power cut, where folders can be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_checked(path: Path, kind: str, version: int, content: dict[str, Any], at_once: bool = True) -> None:
    """Write plain data under its checksum; `at_once` as in `write_atomically`."""
    text = json.dumps(content, allow_nan=False)
    heading = json.dumps({"format": kind, "version": version, "sha256": _digest(text)})
    refuse_to_replace(path, kind)
    _replace(path, f'{heading[:-1]}, "content": {text}}}'.encode(), at_once)


def read_checked(path: Path, kind: str, version: int, words: str) -> dict[str, Any]:
    """What `write_checked` wrote in this format or an earlier one; `words` name such a file in messages."""
    raw = read_limited(path, f"{path}: cannot be read", LARGEST_FILE)
    try:
        document = json.loads(raw)
        found, written, content = document["format"], document["version"], document["content"]
        intact = document["sha256"] == _digest(json.dumps(content, allow_nan=False))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedFile(f"{path}: is not a {words}, or is damaged; restore it from a copy") from error
    if found != kind or not intact:
        raise DamagedFile(f"{path}: the content does not match its checksum; restore it from a copy")
    if written not in range(1, version + 1):
        raise BadInput(f"{path}: was written in format {written}, this version reads {version}; update tcbo_pyomo")
    return dict(content)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
