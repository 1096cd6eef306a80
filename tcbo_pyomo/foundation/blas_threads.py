"""One BLAS thread while a move is sought: its many small products are faster without a second one.

Beside other work it matters most: threads that wait for each other spin. A Cholesky factor of 100 rows took 0.4 ms with one
thread and 38 ms with two on two busy cores, one of 2,000 rows 1.0 s and 6.2 s.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

BRING_A_BLAS = ("numpy", "scipy.linalg", "scipy.special")
"""Modules that load a library of threads with them: NumPy and SciPy have each their own."""


@cache
def _controller(loaded: tuple[str, ...]) -> Any:
    """It looks for libraries only once, when it is made: one that is loaded later needs another."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context with one BLAS thread, in the libraries that are loaded by now."""
    return _controller(tuple(name for name in BRING_A_BLAS if name in sys.modules)).limit(limits=1, user_api="blas")
