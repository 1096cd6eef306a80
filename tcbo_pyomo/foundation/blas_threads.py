"""One BLAS thread while a plan is solved: its many small products are faster without a second one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context with one BLAS thread, where threadpoolctl is installed; else one that changes nothing."""
    controller = _controller()
    return controller.limit(limits=1, user_api="blas") if controller is not None else nullcontext()
