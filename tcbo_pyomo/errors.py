"""One family of errors; each carries the exit code that the command line returns for it.

Every message is one line: what is wrong, where, the value received, what is allowed, what to do next.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TcboError(Exception):
    """Any error this package raises on purpose."""

    exit_code = 1


class BadInput(TcboError, ValueError):
    """The input cannot be used; nothing was changed."""

    exit_code = 2


class EnoughKnown(BadInput):
    """A campaign has reached its stop; no further move was planned."""


class NotTrusted(BadInput):
    """A campaign file names code that this user neither started nor trusted; the code was not run."""


class DamagedFile(TcboError):
    """A saved file is damaged: its content differs from what was written."""

    exit_code = 3


class NoWorkers(TcboError):
    """All worker processes of a study are gone; finished runs are kept."""


class SolverFailed(TcboError):
    """A solver gave no answer, or one that fails our own check."""

    exit_code = 4


class Busy(TcboError):
    """Another process locked the campaign file for too long; nothing was written."""

    exit_code = 5


class DiskError(TcboError):
    """A file could not be written; its earlier content is unchanged."""

    exit_code = 6


class InfeasiblePlan(TcboError):
    """No plan satisfies the declared constraints; this is proven."""

    exit_code = 7


MANY = 20
"""A longer list of names is cut to those that look most like the one given."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence that lists the known names, the closest one first when there is one."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    if not names:
        return f"{hint}known: none"
    shown = names if len(names) <= MANY else difflib.get_close_matches(name, names, n=10, cutoff=0.0)
    rest = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return f"{hint}known: {', '.join(shown)}{rest}"
