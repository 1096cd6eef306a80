"""Requests to end: SIGTERM (a service manager, `kill`) and SIGHUP (a closed terminal) do what Ctrl-C does.

Python turns SIGINT alone into a KeyboardInterrupt; the others would end it at once, with nothing kept.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

REQUESTS_TO_END = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Within it SIGTERM and SIGHUP raise KeyboardInterrupt, unless someone else handles or ignores them (`nohup`)."""
    ours = []
    if threading.current_thread() is threading.main_thread():
        ours = [name for name in REQUESTS_TO_END if signal.getsignal(name) is signal.SIG_DFL]
    try:
        for name in ours:
            signal.signal(name, _interrupt)
        yield
    finally:
        for name in ours:
            signal.signal(name, signal.SIG_DFL)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def end_at_once_on_request() -> None:
    """For workers: a request to end just ends them, and whoever started them says so; what is ignored stays ignored."""
    for name in REQUESTS_TO_END:
        if signal.getsignal(name) is not signal.SIG_IGN:
            signal.signal(name, signal.SIG_DFL)
