"""One BLAS thread while a move is sought: its many small products are faster without a second one.

Beside other work it matters most: threads that wait for each other spin. A Cholesky factor of 100 rows took 0.4 ms with one
thread and 38 ms with two on two busy cores, one of 2,000 rows 1.0 s and 6.2 s.
"""

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
