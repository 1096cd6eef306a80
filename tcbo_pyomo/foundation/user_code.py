"""Whether code of users may run now: a campaign file that somebody else wrote is looked at without running what it names.

`Registry.load` and the loader of problem files ask here before they import anything of a user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tcbo_pyomo.errors import NotTrusted

_refusal: ContextVar[str] = ContextVar("refusal", default="")


@contextmanager
def without_user_code(why: str) -> Iterator[None]:
    """Inside, whatever would import a user's module is refused for the reason given; an empty reason refuses nothing."""
    token = _refusal.set(why)
    try:
        yield
    finally:
        _refusal.reset(token)


def require_trust(what: str) -> None:
    """Refuse to run something of a user's where that is not allowed."""
    if why := _refusal.get():
        raise NotTrusted(f"{what} is code that must not run here: {why}")
