"""Where in the user's own files something happened: the line that raised an error, the line that defines a function."""

from __future__ import annotations

import gc
import os
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

INSTALLED = ("site-packages", "dist-packages")
OURS = tuple(os.path.realpath(folder) for folder in (Path(__file__).parents[1], Path(__file__).parents[2] / "models"))
"""The package, and in a checkout its models beside it."""
WRONG_CALL = re.compile(r"(\S+)\(\) (?:missing|takes|got) ")
PACKAGE = __name__.partition(".")[0]


def is_users(filename: str) -> bool:
    """Whether a source file is the user's own: not ours, not Python's, not of an installed package, and there."""
    return _is_elsewhere(filename) and os.path.isfile(filename)


@cache
def _is_elsewhere(filename: str) -> bool:
    path = Path(os.path.realpath(filename))
    python = [os.path.realpath(sysconfig.get_paths()[kind]) for kind in ("stdlib", "platstdlib")]
    if any(part in INSTALLED for part in path.parts) or path.is_relative_to(sys.prefix + "/bin"):
        return False
    return not any(path.is_relative_to(folder) for folder in (*OURS, *python))


def raised_at(error: BaseException) -> str:
    """'file.py, line N' of the deepest line of the user's that an error, or what caused it, passed through; or nothing."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    for link in reversed(chain):
        own = ""
        place = link.__traceback__
        while place is not None:
            if is_users(place.tb_frame.f_code.co_filename):
                own = _words(place.tb_frame.f_code.co_filename, place.tb_lineno)
            place = place.tb_next
        if own:
            return own
    return next(filter(None, map(_called_wrongly, chain)), "")


def _called_wrongly(error: BaseException) -> str:
    """'file.py, line N' of a function of the user's that does not take the arguments it is called with; or nothing.

    Such an error is raised where the call is, which is ours: no line of the user's has run. Its message has the name.
    """
    named = WRONG_CALL.match(str(error)) if isinstance(error, TypeError) else None
    if named is None:
        return ""
    functions = (thing for thing in gc.get_objects() if isinstance(thing, FunctionType))
    places = (defined_at(function) for function in functions if function.__qualname__ == named[1])
    return next(filter(None, places), "")


def with_place(error: BaseException) -> str:
    """The message of an error, with the line of the user's own code that is behind it unless it says so itself."""
    where, message = raised_at(error), str(error)
    file = Path(where.split("'")[1]).name if where else ""
    return message if not where or f"{file}', line " in message else f"{message} ({where})"


def defined_at(thing: Any) -> str:
    """'file.py, line N' of the function, or of the class of an object, if it is the user's own; or nothing."""
    code = getattr(thing, "__code__", None) or getattr(getattr(thing, "__call__", None), "__code__", None)  # noqa: B004
    if code is None or not is_users(code.co_filename):
        return ""
    return _words(code.co_filename, code.co_firstlineno)


def users_turn(frame: FrameType | None) -> bool:
    """Whether the user's code rather than ours is at work: of the frames that are either, the innermost decides."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
            return False
        if is_users(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def _words(filename: str, line: int) -> str:
    shown = os.path.relpath(filename)
    return f"'{filename if shown.startswith('..') else shown}', line {line}"
