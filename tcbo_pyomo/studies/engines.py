"""Runs spread over the processes of this machine, by joblib."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from tcbo_pyomo.studies.execution import execute
from tcbo_pyomo.studies.runs import Run

log = logging.getLogger(__name__)

Record = dict[str, Any]


def by_processes(runs: list[Run], workers: int) -> Generator[Record, None, None]:
    """Records of runs in the order in which they end; the death of a worker costs at most the run that caused it."""
    if workers == 1:
        yield from _one_by_one(runs)
        return
    left = {run.key: run for run in runs}
    try:
        while left:
            suspects = yield from _until_a_worker_dies(left, workers)
            # One of those under way killed its worker. Each in a process of its own, the guilty one shows itself.
            for record in _one_by_one(suspects):
                del left[record["key"]]
                yield record
    finally:
        _stop_workers()


def _until_a_worker_dies(left: dict[str, Run], workers: int) -> Generator[Record, None, list[Run]]:
    """Take finished runs out of `left`; the runs that were under way when a worker died, none when all is done."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    under_way: dict[str, Run] = {}

    def tasks() -> Iterator[Any]:
        for run in list(left.values()):
            under_way[run.key] = run
            yield delayed(execute)(run)

    try:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            # One run at a time to each worker: their lengths differ, and so it is known which are under way.
            parallel = Parallel(workers, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered")
            for record in parallel(tasks()):
                del left[record["key"]], under_way[record["key"]]
                yield record
    except TerminatedWorkerError:
        log.warning("a worker died; runs that were under way are made again: %s", [run.label for run in under_way.values()])
        return list(under_way.values())
    return []


def _stop_workers() -> None:
    """End joblib's workers now, also in the middle of a run; it would keep them for the next call."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)


def _one_by_one(runs: Iterable[Run]) -> Iterator[Record]:
    """Runs in one process beside this one, replaced when it dies."""
    executor = None
    try:
        for run in runs:
            executor = executor or ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            try:
                yield executor.submit(execute, run).result()
            except BrokenProcessPool:
                executor.shutdown()
                executor = None
                yield died(run)
    finally:
        if executor is not None:
            executor.shutdown(cancel_futures=True)


def died(run: Run) -> Record:
    """The record of a run whose process is gone."""
    reason = "the process died without an error of its own: killed, out of memory, or a crash in a library"
    return {"key": run.key, "run": run.to_dict(), "error": reason, "traceback": ""}
