"""A limit on the time of a search that is better the longer it lasts."""

from __future__ import annotations

import time

from tcbo_pyomo.errors import BadInput


class Deadline:
    """So many seconds from now on."""

    def __init__(self, seconds: float) -> None:
        if not seconds > 0.0:
            raise BadInput(f"time limit {seconds!r} must be a positive number of seconds")
        self.seconds = float(seconds)
        self._end = time.monotonic() + self.seconds

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._end
