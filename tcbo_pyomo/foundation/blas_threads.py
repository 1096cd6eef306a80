"""One BLAS thread while a plan is solved: its many small products are faster without a second one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    """Made at the first plan, when the libraries are loaded: it looks for them only once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context with one BLAS thread."""
    return _controller().limit(limits=1, user_api="blas")
