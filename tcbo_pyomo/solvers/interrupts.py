"""Ctrl-C during a solve in compiled code, which would swallow the exception: noted, raised afterwards."""

from __future__ import annotations

import signal
import threading
from typing import Any, Self


class NotedInterrupt:
    """A context in which Ctrl-C only sets `requested`; leaving it does what Ctrl-C would have done.

    Signals reach the main thread only; elsewhere this context does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        # A handler that was not set from Python reads as None and could not be put back.
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is not None:
            self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, *_: object) -> None:
        self.requested = True

    def __exit__(self, *_: object) -> None:
        if self._previous is None:
            return
        signal.signal(signal.SIGINT, self._previous)
        if self.requested:
            signal.raise_signal(signal.SIGINT)
