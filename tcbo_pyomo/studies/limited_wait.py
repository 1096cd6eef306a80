"""Calls into a library that may wait forever: done in a thread of their own, and given up after some seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def within(seconds: float, function: Callable[..., Result], *arguments: Any) -> Result:
    """What a function returns or raises; TimeoutError where it has not ended by then, and its thread is left alone."""
    found: list[Result] = []
    raised: list[BaseException] = []
    ended = threading.Event()

    def call() -> None:
        try:
            found.append(function(*arguments))
        except BaseException as error:
            raised.append(error)
        finally:
            ended.set()

    threading.Thread(target=call, daemon=True).start()
    if not ended.wait(seconds):
        raise TimeoutError(f"no answer within {seconds:g} s")
    if raised:
        raise raised[0]
    return found[0]
