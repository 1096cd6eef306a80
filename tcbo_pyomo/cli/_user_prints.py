"""Standard output is for results: what the user's own code prints while a command runs goes to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tcbo_pyomo.foundation.user_lines import users_turn


class _Sorted:
    """A standard output that passes on what we write, and hands what the user's code writes to standard error."""

    def __init__(self, results: Any) -> None:
        self._results = results

    def write(self, text: str) -> int:
        written: int = (sys.stderr if users_turn(sys._getframe(1)) else self._results).write(text)
        return written

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._results, name)


@contextmanager
def user_prints_to_stderr() -> Iterator[None]:
    """Within it `print` in a problem file, a method or a rule of the user's does not mix with our results."""
    before = sys.stdout
    sys.stdout = _Sorted(before)
    try:
        yield
    finally:
        sys.stdout = before
