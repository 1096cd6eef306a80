"""A worker ends with the process that started it, also when that one is killed and can do nothing more."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""
SECONDS_BETWEEN_LOOKS = 0.5


def end_with_parent(parent: int) -> None:
    """Let this process end as soon as `parent`, which started it, is gone.

    On Linux the kernel does it, whatever runs here then; elsewhere a thread looks who the parent is.
    """
    if not _by_the_kernel():
        threading.Thread(target=_look, args=(parent,), daemon=True).start()
    # It may be gone already.
    if os.getppid() != parent:
        os._exit(1)


def _by_the_kernel() -> bool:
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL) == 0)
    except (OSError, AttributeError):
        return False


def _look(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)
