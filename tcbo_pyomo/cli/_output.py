"""Standard output that may be full or closed: what was recorded is said all the same, on standard error.

A script that repeats a command because its output was lost would change a campaign twice. So a lost confirmation is an error
of its own (exit 6), which says what was done.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from tcbo_pyomo.errors import DiskError

DO_NOT_REPEAT = "do not repeat the command"
FILES_ARE_THERE = "the files are there"


class ClosedOutput(io.TextIOBase):
    """Stands in for a standard output that was closed when the program began: every write fails, and says so."""

    def write(self, text: str) -> int:
        """Nothing can be written."""
        raise OSError(errno.EBADF, "it is closed")

    def writable(self) -> bool:
        """Whether one may try."""
        return True


def keep_standard_streams() -> None:
    """Occupy the numbers of closed standard streams, so that no file which is opened later is taken for one of them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                os.fstat(number)
                continue
            os.open(os.devnull, os.O_RDWR)  # The lowest free number, which is this one.
    if sys.stdout is None:
        sys.stdout = ClosedOutput()


def say(message: str, nl: bool = True, advice: str = DO_NOT_REPEAT) -> None:
    """Print what was recorded; if it cannot be printed, that is an error which says what was recorded, and what to do."""
    with recorded(" | ".join(message.rstrip().split("\n")), advice):
        typer.echo(message, nl=nl)


@contextmanager
def recorded(done: str, advice: str) -> Iterator[None]:
    """For what is printed after something was done: if it cannot be printed, the error says what was, and what to do."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        drop_output()
        raise DiskError(
            f"cannot write to standard output ({error.strerror}), but this is recorded, {advice}: {done}"
        ) from None


def warn(message: str) -> None:
    """A line on standard error; where that cannot be written either, the command goes on."""
    with suppress(OSError):
        typer.echo(f"warning: {message}", err=True)


def drop_output() -> None:
    """Nothing more can be written to standard output, not even what is left in its buffer when the program ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
