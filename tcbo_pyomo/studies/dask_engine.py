"""Runs spread over a dask.distributed cluster: an existing one by its address, or one of this machine, bound to loopback.

Dask runs a task at least once, so results are known by their key and not counted. A worker that dies is Dask's to
replace: its runs go to another worker. Dask gives up a run after several deaths, but it blames all that the dead workers
held, also runs that had only waited there: so each of these is made once more, alone, and the guilty one shows itself.

Nothing waits without a limit. Where no worker has been alive for a while, a cluster of this machine is replaced; an existing
one is its owner's: the study stops, and resumes when it is started again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Self

from tcbo_pyomo._version import __version__
from tcbo_pyomo.errors import BadInput, NoWorkers
from tcbo_pyomo.studies.dask_workers import WorkerWatch
from tcbo_pyomo.studies.execution import execute
from tcbo_pyomo.studies.limited_wait import within
from tcbo_pyomo.studies.process_engine import Record, died
from tcbo_pyomo.studies.runs import Run

log = logging.getLogger(__name__)

PATIENCE = 60.0
"""Seconds without a living worker after which a study gives up."""
SECONDS_TO_ANSWER = 10.0
SECONDS_TO_START = 300.0
SECONDS_BETWEEN_LOOKS = 0.05
LOCAL_CLUSTERS = 3
"""How many clusters of this machine may lose all their workers."""
LOOPBACK = "127.0.0.1"
SILENT = logging.CRITICAL + 1
"""What Dask logs about the deaths of its workers, and when it is stopped, would bury our one line."""


class DaskEngine:
    """A cluster that makes runs; connected when it is entered, so that whatever is wrong with it shows before any run."""

    def __init__(self, address: str | None, workers: int) -> None:
        self.address, self.workers = address, workers
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._client = self._open.enter_context(_client(self.address, self.workers))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def records(self, runs: list[Run], patience: float = PATIENCE) -> Generator[Record, None, None]:
        """Records of runs in the order in which they end; the death of workers costs at most the run that caused it."""
        left = {run.key: run for run in runs}
        for attempt in range(1, LOCAL_CLUSTERS + 1):
            try:
                for record in by_client(self._client, list(left.values()), patience):
                    del left[record["key"]]
                    yield record
                return
            except NoWorkers:
                if self.address is not None or attempt == LOCAL_CLUSTERS:
                    raise
            log.warning("all workers of the local Dask cluster are gone; starting another cluster")
            self._open.close()
            self.__enter__()


@contextmanager
def _client(address: str | None, workers: int) -> Iterator[Any]:
    """A client of the cluster at an address, or of a new one on this machine; every worker has this version."""
    try:
        from distributed import Client
    except ImportError:
        raise BadInput("engine 'dask' needs dask.distributed: pip install 'tcbo_pyomo[dask]'") from None
    if address is None:
        with _local_cluster(workers) as cluster:
            client = within(SECONDS_TO_START, Client, cluster)
            try:
                yield client
            finally:
                _close(client)
        return
    try:
        client = Client(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, TimeoutError, ValueError) as error:
        raise BadInput(f"no Dask scheduler answers at '{address}' ({_in_a_line(error)}); nothing was run") from None
    try:
        _refuse_other_versions(client, address)
        yield client
    finally:
        _close(client)


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    import dask
    from distributed import LocalCluster

    def start() -> Any:
        # No dashboard, which would listen on every interface; any port, so that two studies do not want the same one.
        alone = {"dashboard_address": f"{LOOPBACK}:0", "scheduler_kwargs": {"dashboard": False}}
        return LocalCluster(n_workers=workers, threads_per_worker=1, host=LOOPBACK, silence_logs=SILENT, **alone)

    try:
        cluster = within(SECONDS_TO_START, start)
    except TimeoutError:
        raise NoWorkers(
            f"no Dask worker started within {SECONDS_TO_START:g} s; repeat the command to try again"
        ) from None
    try:
        # Dask takes a worker away for good that is not there some seconds after a death, also when it is just starting again
        # after another one. We look ourselves whether anybody is alive.
        with dask.config.set({"distributed.deploy.lost-worker-timeout": SECONDS_TO_START}):
            yield cluster
    finally:
        _close(cluster)


def _close(thing: Any) -> None:
    """Close a client or cluster; what does not close by itself ends with this process."""
    with suppress(TimeoutError):
        within(SECONDS_TO_ANSWER, thing.close)


def by_client(client: Any, runs: list[Run], patience: float) -> Generator[Record, None, None]:
    """Records of runs made by one cluster; `NoWorkers` where nobody is left to make them."""
    from distributed import KilledWorker

    for run, error in (yield from _until_all_end(client, runs, "tcbo", patience)):
        lost = [(run, error)]
        if isinstance(error, KilledWorker):
            log.warning("workers died; their run is repeated alone: %s", run.label)
            lost = yield from _until_all_end(client, [run], "tcbo-alone", patience)
        for _, reason in lost:
            elsewhere = {"error": f"Dask lost the run; check that the cluster still runs ({_in_a_line(reason)})"}
            yield died(run) if isinstance(reason, KilledWorker) else {**died(run), **elsewhere}


def _until_all_end(
    client: Any, runs: list[Run], prefix: str, patience: float
) -> Generator[Record, None, list[tuple[Run, Exception]]]:
    """Records of runs; returns those that Dask gave up, and why. Errors of the runs themselves are in their records."""
    from distributed import as_completed

    waiting = {f"{prefix}-{run.key}": run for run in runs}
    ended = as_completed([client.submit(execute, run, key=name, pure=False) for name, run in waiting.items()])
    given_up: list[tuple[Run, Exception]] = []
    watch = WorkerWatch(client, patience, SECONDS_TO_ANSWER)
    while waiting:
        batch = ended.next_batch(block=False)
        for future in batch:
            run = waiting.get(future.key)
            if run is None:
                continue
            try:
                # Not by its status: if the worker dies before it has sent the result, the run is on its way once more.
                record = future.result(timeout=SECONDS_TO_ANSWER)
            except TimeoutError:
                ended.add(future)
                continue
            except Exception as error:
                given_up.append((run, error))
            else:
                yield record
            del waiting[future.key]
            future.release()
        if not batch:
            watch.look(len(waiting))
            time.sleep(SECONDS_BETWEEN_LOOKS)
    return given_up


def _in_a_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _refuse_other_versions(client: Any, address: str) -> None:
    try:
        found: dict[str, str] = within(SECONDS_TO_ANSWER, client.run, _version_here)
    except TimeoutError:
        raise BadInput(f"the workers of the Dask scheduler at '{address}' do not answer; nothing was run") from None
    if not found:
        raise BadInput(f"the Dask scheduler at '{address}' has no workers; start some, nothing was run")
    for worker, version in found.items():
        if version != __version__:
            raise BadInput(
                f"Dask worker {worker} has tcbo_pyomo {version}, this is {__version__}; install the same version everywhere"
            )


def _version_here() -> str:
    return __version__
