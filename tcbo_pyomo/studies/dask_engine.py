"""Runs spread over a dask.distributed cluster: an existing one by its address, or one of this machine, bound to loopback.

Dask runs a task at least once, so results are known by their key and not counted. A worker that dies is Dask's to
replace: its runs go to another worker. Dask gives up a run after several deaths, but it blames all that the dead workers
held, also runs that had only waited there: so each of these is made once more, alone, and the guilty one shows itself.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from tcbo_pyomo._version import __version__
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.execution import execute
from tcbo_pyomo.studies.process_engine import Record, died
from tcbo_pyomo.studies.runs import Run

log = logging.getLogger(__name__)

SECONDS_TO_ANSWER = 10
LOOPBACK = "127.0.0.1"


@contextmanager
def dask_client(address: str | None, workers: int) -> Iterator[Any]:
    """A client of the cluster at an address, or of a new one on this machine; every worker has this version."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise BadInput("engine 'dask' needs dask.distributed: pip install 'tcbo_pyomo[dask]'") from None
    if address is None:
        with (
            # A dashboard would listen on every interface.
            LocalCluster(
                n_workers=workers, threads_per_worker=1, host=LOOPBACK, dashboard_address=None, silence_logs=40
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, TimeoutError, ValueError) as error:
        raise BadInput(f"no Dask scheduler answers at '{address}' ({_in_a_line(error)}); nothing was run") from None
    with client:
        _refuse_other_versions(client, address)
        yield client


def by_dask(client: Any, runs: list[Run]) -> Generator[Record, None, None]:
    """Records of runs in the order in which they end; the death of workers costs at most the run that caused it."""
    from distributed import KilledWorker

    for run, error in (yield from _until_all_end(client, runs, "tcbo")):
        lost = [(run, error)]
        if isinstance(error, KilledWorker):
            log.warning("workers died; a run that they held is made again, alone: %s", run.label)
            lost = yield from _until_all_end(client, [run], "tcbo-alone")
        for _, reason in lost:
            elsewhere = {"error": f"Dask has lost the run, is the cluster still there? ({_in_a_line(reason)})"}
            yield died(run) if isinstance(reason, KilledWorker) else {**died(run), **elsewhere}


def _until_all_end(client: Any, runs: list[Run], prefix: str) -> Generator[Record, None, list[tuple[Run, Exception]]]:
    """Records of runs; returns those that Dask gave up, and why. Errors of the runs themselves are in their records."""
    from distributed import as_completed

    waiting = {f"{prefix}-{run.key}": run for run in runs}
    futures = [client.submit(execute, run, key=name, pure=False) for name, run in waiting.items()]
    given_up: list[tuple[Run, Exception]] = []
    for future in as_completed(futures):
        run = waiting.pop(future.key, None)
        if run is None:
            continue
        try:
            # Not by its status: if the worker dies before it has sent the result, the run is on its way once more.
            record = future.result()
        except Exception as error:
            given_up.append((run, error))
        else:
            yield record
        future.release()
    return given_up


def _in_a_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _refuse_other_versions(client: Any, address: str) -> None:
    found: dict[str, str] = client.run(_version_here)
    if not found:
        raise BadInput(f"the Dask scheduler at '{address}' has no workers; start some, nothing was run")
    for worker, version in found.items():
        if version != __version__:
            raise BadInput(
                f"Dask worker {worker} has tcbo_pyomo {version}, this is {__version__}; install the same version everywhere"
            )


def _version_here() -> str:
    return __version__
