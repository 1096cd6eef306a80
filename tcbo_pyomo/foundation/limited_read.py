"""Reading what a user names: a file that is too large, a device that never ends and a pipe that nobody fills are refused."""

from __future__ import annotations

import os
import select
import stat
import time
from pathlib import Path

from tcbo_pyomo.errors import BadInput

STANDARD_INPUT = "-"
"""The name that stands for standard input instead of a file."""
SECONDS_WITHOUT_DATA = 5.0
"""For pipes, such as `--csv -`; files answer at once."""
PIECE = 1 << 20


def read_limited(path: str | os.PathLike[str], where: str, largest: int) -> bytes:
    """The content of a file, or of standard input for "-"; `where` names it in messages, `largest` is its maximum in bytes."""
    try:
        handle = _opened(path)
        try:
            content = _content(handle, where, largest)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{where}: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > largest:
        raise BadInput(f"{where}: is larger than {largest} bytes, the maximum")
    return content


def _opened(path: str | os.PathLike[str]) -> int:
    """A handle of one's own, to be closed."""
    if os.fspath(path) == STANDARD_INPUT:
        return os.dup(0)
    # A pipe without a writer would keep us in `open` forever.
    return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))


def _content(handle: int, where: str, largest: int) -> bytes:
    mode = os.fstat(handle).st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not os.isatty(handle)):
        raise BadInput(f"{where}: is a device; name a file")
    waiting = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)
    pieces: list[bytes] = []
    held, deadline = 0, time.monotonic() + SECONDS_WITHOUT_DATA
    while held <= largest:
        if waiting and not select.select([handle], [], [], max(deadline - time.monotonic(), 0.0))[0]:
            raise BadInput(f"{where}: no data for {SECONDS_WITHOUT_DATA:g} s; name a file")
        piece = os.read(handle, min(PIECE, largest + 1 - held))
        if not piece:
            break
        pieces.append(piece)
        held, deadline = held + len(piece), time.monotonic() + SECONDS_WITHOUT_DATA
    return b"".join(pieces)


def is_ordinary(path: Path) -> bool:
    """Whether there is a file at a path: no folder, device or pipe, which would keep whoever opens it waiting."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
