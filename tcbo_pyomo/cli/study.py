"""`tcbo study STUDY.yaml`: run what is missing of a study, with a progress bar; stop it at any time and start it again."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo.cli._options import refuse_dash
from tcbo_pyomo.cli._output import recorded
from tcbo_pyomo.cli._tables import new_table, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tcbo_pyomo.studies.study import Study
    from tcbo_pyomo.studies.study_runner import Progress

PANEL, POSITION = "Studies", 40
SOME_FAILED = 1
"""Exit code when the study finished and some of its runs failed."""
CASE = ("problem", "feedback", "method", "setting")
REGRET = ("regret_median", "regret_q10", "regret_q90")


def study(
    file: Annotated[Path, typer.Argument(metavar="STUDY.yaml", help="What to run; see examples/reproduction.")],
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The study's folder. Default: the name of the study.", callback=refuse_dash),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes. Default: all cores.")] = None,
    engine: Annotated[str, typer.Option(help="processes (joblib) or dask.")] = "processes",
    address: Annotated[
        str | None, typer.Option(help="Dask: address of the scheduler. Default: a cluster on this machine.")
    ] = None,
    patience: Annotated[
        float,
        typer.Option(help="Dask: stop after so many seconds without a live worker; start the study again then."),
    ] = 60.0,
    seeds: Annotated[str | None, typer.Option(help="Seeds in place of those in the file, such as 1..5.")] = None,
    extend: Annotated[bool, typer.Option("--extend", help="Continue in a folder although the study changed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the study and count its runs without running them.")
    ] = False,
) -> None:
    """Run every case of a study with every seed; the same command resumes after a stop."""
    from tcbo_pyomo.studies.worker_pool import ONE_THREAD

    # Before numpy is loaded: with the threads of a BLAS this process could not be copied for its workers.
    os.environ.update(ONE_THREAD)
    from tcbo_pyomo.studies.study import read_study, study_from
    from tcbo_pyomo.studies.study_runner import run_study

    # Workers stopped by Ctrl-C leave semaphores to be cleaned up; Python's word about each would bury ours.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
    wanted = read_study(file)
    if seeds is not None:
        wanted = study_from({**wanted.model_dump(), "seeds": seeds})
    place = output or Path(wanted.name)
    if dry_run:
        _show_plan(wanted, place, extend)
        return
    with _progress_bar(wanted.name) as on_progress:
        tables = run_study(
            wanted,
            place,
            workers,
            engine,  # type: ignore[arg-type]
            address,
            extend,
            os.getcwd(),
            on_progress,
            patience,
        )
    last = f"tables are in {place}; figures: tcbo figures {place}"
    with recorded(last, "every run is kept"):
        print_table(_final_table(tables.rows("summary")))
        typer.echo(last)
    if failed := len(tables.rows("failures")):
        again = f"see {place / 'failures.csv'}; the same command tries them again"
        typer.echo(f"{failed} of the runs failed, {again}", err=True)
        raise typer.Exit(SOME_FAILED)


@contextmanager
def _progress_bar(name: str) -> Iterator[Callable[[Progress], None]]:
    """A bar with runs done, failed and time left, where someone can see it; a line per failure in any case."""
    from rich import progress as rich
    from rich.console import Console

    console = Console(stderr=True)
    bar = rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[failed]} failed"),
        rich.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task(name, total=None, failed=0)
    earlier = 0

    def show(progress: Progress) -> None:
        nonlocal earlier
        if not progress.last:
            bar.start()  # And not earlier: its thread would keep workers from starting as copies of this process.
            earlier = progress.done
            # Time left follows from what is made now, not from what an earlier start made.
            bar.update(task, total=progress.total - progress.done)
            for line in progress.changes:
                console.print(line, highlight=False, markup=False)
            if progress.done:
                console.print(f"{progress.done} of {progress.total} runs were finished before", highlight=False)
        if progress.error is not None:
            console.print(f"failed: {progress.last}: {progress.error}", highlight=False, markup=False)
        bar.update(task, completed=progress.done + progress.failed - earlier, failed=progress.failed)

    try:
        yield show
    finally:
        bar.stop()


def _show_plan(wanted: Study, place: Path, extend: bool) -> None:
    from tcbo_pyomo.studies.runs import runs_of
    from tcbo_pyomo.studies.study_folder import StudyFolder
    from tcbo_pyomo.studies.study_runner import changes_in_words

    folder = StudyFolder(place)
    folder.refuse_another(wanted, extend)
    runs = runs_of(folder.as_begun(wanted), os.getcwd())
    table = new_table(*CASE, right=("runs", "made"))
    for case, members in groupby(runs, key=lambda run: run.case):
        made = [folder.record(run) is not None for run in members]
        table.add_row(case.problem, case.feedback, case.method, case.setting, str(len(made)), str(sum(made)))
    print_table(table)
    for line in changes_in_words(folder, [run for run in runs if folder.record(run) is None]):
        typer.echo(line)
    typer.echo(f"{len(runs)} runs")


def _final_table(summary: list[dict[str, str]]) -> Any:
    """The regret of every case at the end of its budget."""
    table = new_table(*CASE, right=("runs", "median regret", "10 % to 90 %", "identified"))
    last: dict[tuple[str, ...], dict[str, str]] = {}
    for row in summary:
        case = tuple(row[key] for key in CASE)
        last.pop(case, None)  # So that cases stand in the order of their last rows.
        last[case] = row
    for case, row in last.items():
        median, low, high = (f"{float(row[name] or 'nan'):.3g}" for name in REGRET)
        rate = f"{float(row['identified_rate']):.0%}" if row["identified_rate"] else ""
        table.add_row(*case, row["runs"], median, f"{low} to {high}", rate)
    return table
