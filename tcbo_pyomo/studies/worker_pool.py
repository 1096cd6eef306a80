"""Worker processes by joblib, each with one BLAS thread: copies of this process where that is safe, else started afresh.

A copy (fork) has the package and the problems of the study already loaded, so it begins at once; a fresh worker loads them
first. Only a process without a second thread may be copied: another thread could hold a lock that nobody opens in the copy.
So it is for `tcbo study` on Linux; a notebook, a program with threads, macOS and Windows get fresh workers.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from multiprocessing import get_context

from tcbo_pyomo.foundation.parent_process import end_with_parent
from tcbo_pyomo.foundation.signals import end_at_once_on_request

ONE_THREAD = {
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR")},
    "VECLIB_MAXIMUM_THREADS": "1",
}
"""Environment of numerical libraries; it counts where it is set before they are loaded."""


@contextmanager
def worker_pool(workers: int) -> Iterator[Executor]:
    """Workers that begin now; what interrupts us stops them at once, with all they have started, also within a run."""
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

    copied = may_be_copied()
    if copied:
        # What is loaded by now is no garbage: the search for it would only copy memory that all processes share.
        gc.freeze()
    context = get_context("fork") if copied else None
    executor = ProcessPoolExecutor(
        workers, context=context, initializer=_depend_on, initargs=(os.getpid(),), env=ONE_THREAD
    )
    try:
        # The first task starts them all, before the caller has a thread of its own.
        executor.submit(os.getpid)
        yield executor
    finally:
        executor.shutdown(wait=True, kill_workers=True)


def may_be_copied() -> bool:
    """Whether this process has a single thread, those of libraries counted."""
    try:
        return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _depend_on(parent: int) -> None:
    """On Ctrl-C a worker just ends, and the process that started it says so; with that process it ends in any case.

    Its standard output is ours, which is for results: what the user's code prints there goes to standard error.
    """
    sys.stdout = sys.stderr
    end_at_once_on_request()
    end_with_parent(parent)
