"""Waiting for events: a test never waits for seconds, and nothing waits without a limit."""

import signal
import time

PATIENCE = 500
"""Seconds after which what never comes is given up, before the time limit of a test; no event takes that long."""


def until(happened, seconds):
    """Wait for an event; the limit is only for what never comes."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.02)


def until_killed():
    """In a child process: do nothing until the parent kills it; end by itself where nobody does."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(PATIENCE)
    signal.pause()
