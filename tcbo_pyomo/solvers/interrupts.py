"""Ctrl-C during a solve in compiled code, which would swallow the exception: noted, raised afterwards."""

from __future__ import annotations

import signal
import threading
from typing import Any, Self

from tcbo_pyomo.foundation.signals import REQUESTS_TO_END


class NotedInterrupt:
    """A context in which Ctrl-C only sets `requested`; leaving it does what Ctrl-C would have done.

    SIGTERM and SIGHUP likewise, where somebody in Python handles them. Signals reach the main thread only; elsewhere this
    context does nothing.
    """

    def __init__(self) -> None:
        self._noted: list[int] = []
        self._previous: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether the solve should stop."""
        return bool(self._noted)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for name in REQUESTS_TO_END:
                handler = signal.getsignal(name)
                # A handler that was not set from Python reads as None and could not be put back.
                if callable(handler) or (name == signal.SIGINT and handler is not None):
                    self._previous[name] = signal.signal(name, self._note)
        return self

    def _note(self, number: int, *_: object) -> None:
        self._noted.append(number)

    def __exit__(self, *_: object) -> None:
        for name, handler in self._previous.items():
            signal.signal(name, handler)
        for number in self._noted[:1]:
            signal.raise_signal(number)
