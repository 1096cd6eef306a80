"""Runs spread over the processes of this machine."""

from __future__ import annotations

import logging
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from tcbo_pyomo.studies.execution import execute
from tcbo_pyomo.studies.runs import Run
from tcbo_pyomo.studies.worker_pool import worker_pool

log = logging.getLogger(__name__)

Record = dict[str, Any]


def by_processes(pool: Executor, runs: list[Run], workers: int) -> Generator[Record, None, None]:
    """Records of runs in the order in which they end; the death of a worker costs at most the run that caused it."""
    left = {run.key: run for run in runs}
    # Two for each worker, so that none waits for the disk on which we store what it has made.
    suspects = yield from _until_a_worker_dies(pool, left, 2 * workers)
    while suspects:
        # One of those handed out killed its worker. Each in a process of its own, the guilty one shows itself.
        for run in suspects:
            with worker_pool(1) as alone:
                guilty = yield from _until_a_worker_dies(alone, {run.key: run}, 1)
            del left[run.key]
            if guilty:
                yield died(run)
        if not left:
            return
        with worker_pool(min(workers, len(left))) as another:
            suspects = yield from _until_a_worker_dies(another, left, 2 * workers)


def _until_a_worker_dies(pool: Executor, left: dict[str, Run], at_once: int) -> Generator[Record, None, list[Run]]:
    """Take finished runs out of `left`; the runs that were handed out when a worker died, none when all is done."""
    waiting = iter(list(left.values()))
    handed_out: dict[Future[Record], Run] = {}

    def hand_out(number: int) -> None:
        for run in islice(waiting, number):
            handed_out[pool.submit(execute, run)] = run

    try:
        hand_out(at_once)
        while handed_out:
            for future in wait(handed_out, return_when=FIRST_COMPLETED).done:
                record = future.result()
                hand_out(1)
                del left[record["key"]], handed_out[future]
                yield record
    except BrokenProcessPool:
        suspects = list(handed_out.values())
        log.warning("a worker died; its runs are repeated: %s", [run.label for run in suspects])
        return suspects
    return []


def died(run: Run) -> Record:
    """The record of a run whose process is gone."""
    reason = "the process died without an error of its own: killed, out of memory, or a crash in a library"
    return {"key": run.key, "run": run.to_dict(), "error": reason, "traceback": ""}
