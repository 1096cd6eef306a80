"""Run what is missing of a study, store each run as it ends, and write the tables."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.dask_engine import PATIENCE, DaskEngine
from tcbo_pyomo.studies.process_engine import Record, by_processes
from tcbo_pyomo.studies.runs import Run, runs_of
from tcbo_pyomo.studies.study import Study
from tcbo_pyomo.studies.study_folder import StudyFolder
from tcbo_pyomo.studies.study_tables import StudyTables, read_tables, write_tables
from tcbo_pyomo.studies.worker_pool import worker_pool

log = logging.getLogger(__name__)

Engine = Literal["processes", "dask"]


@dataclass(frozen=True)
class Progress:
    """How far a study is; `last` is the run that ended just now and `error` says why it failed, if it did.

    `changes` says at the start why runs that were made before are made again.
    """

    total: int
    done: int
    failed: int
    last: str = ""
    error: str | None = None
    changes: tuple[str, ...] = ()


def run_study(
    study: Study,
    folder: str | Path,
    workers: int | None = None,
    engine: Engine = "processes",
    address: str | None = None,
    extend: bool = False,
    search_path: str = "",
    on_progress: Callable[[Progress], None] = lambda progress: None,
    patience: float = PATIENCE,
) -> StudyTables:
    """Run what the folder does not hold yet; return the tables of all runs that succeeded.

    Parameters
    ----------
    study
        What to run, see `read_study`.
    folder
        Where finished runs are stored. A study that was interrupted, or has new seeds, resumes there.
    workers
        Number of processes, or of Dask workers on this machine. Default: all cores.
    engine, address
        processes, or dask: a cluster on this machine, or the one whose scheduler has this address.
    extend
        Continue in a folder although the study changed; runs that are still part of it are not repeated.
    search_path
        The folder of modules in settings such as 'my_module:MyRule'.
    on_progress
        Called at the start and after every run.
    patience
        Dask: seconds without a live worker after which the study stops with `NoWorkers`; finished runs are kept.
    """
    count = _number_of_workers(workers)
    if engine not in get_args(Engine):
        raise BadInput(f"unknown engine '{engine}'; use processes or dask")
    if address is not None and engine != "dask":
        raise BadInput(f"address '{address}' is for engine dask, but the engine is {engine}")
    if not 0.0 < patience < float("inf"):
        raise BadInput(f"patience {patience!r} must be a positive number of seconds")
    place = StudyFolder(folder)
    place.refuse_another(study, extend)
    runs = runs_of(place.as_begun(study), search_path)
    missing = [run for run in runs if place.record(run) is None]
    changes = changes_in_words(place, missing)
    labels = {run.key: run.label for run in missing}
    done, failed = len(runs) - len(missing), 0
    with _engine(engine, address, count, missing, patience) as records:
        place.claim(study, runs)
        on_progress(Progress(len(runs), done, failed, changes=changes))
        try:
            for record in records:
                place.keep(record)
                error = record.get("error")
                done, failed = done + (error is None), failed + (error is not None)
                on_progress(Progress(len(runs), done, failed, labels[record["key"]], error))
        finally:
            # Also when it is interrupted: what took hours can be looked at.
            write_tables(place, runs)
    _warn_of_fall_backs(place, runs)
    return read_tables(place.place)


def _warn_of_fall_backs(place: StudyFolder, runs: list[Run]) -> None:
    """Runs whose solver did nothing look like any other in the tables."""
    fallen = [(run, words) for run in runs if (words := (place.record(run) or {}).get("fall_backs"))]
    if fallen:
        run, words = fallen[0]
        log.warning("in %d of %d runs plans fell back to warm starts; in %s %s", len(fallen), len(runs), run.label, words)


def changes_in_words(place: StudyFolder, missing: list[Run]) -> tuple[str, ...]:
    """Why runs that were made before are made again, a line for each kind of change."""
    lines = []
    for names, runs in place.changes(missing).items():
        number = "1 run is" if len(runs) == 1 else f"{len(runs)} runs are"
        problems = ", ".join(dict.fromkeys(run.case.problem for run in runs))
        lines.append(f"changed since the last time: {', '.join(names)}; {number} repeated ({problems})")
    return tuple(lines)


@contextmanager
def _engine(
    engine: Engine, address: str | None, workers: int, runs: list[Run], patience: float
) -> Iterator[Iterator[Record]]:
    """The records of runs, in the order in which they end; whatever makes them is stopped at the end."""
    if not runs:
        yield iter(())
    elif engine == "processes":
        with worker_pool(min(workers, len(runs))) as pool, closing(by_processes(pool, runs, workers)) as records:
            yield records
    else:
        with DaskEngine(address, workers) as cluster, closing(cluster.records(runs, patience)) as records:
            yield records


def _number_of_workers(workers: int | None) -> int:
    if workers is None:
        from joblib import cpu_count

        return int(cpu_count())
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise BadInput(f"workers {workers!r} must be a whole number of at least 1")
    return workers
