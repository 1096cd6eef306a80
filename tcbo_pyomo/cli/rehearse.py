"""`tcbo rehearse PROBLEM`: simulate the campaign before its first experiment."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo.cli._options import Assignments, Preset, ProblemName, Seed, SettingsFile, feedback_kind, layers_of
from tcbo_pyomo.cli._tables import new_table, print_table
from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.studies.rehearsed.rehearse import RehearsalReport

PANEL, POSITION = "Problems and simulations", 13
VARIED = ("horizon", "noise")


def rehearse(
    problem: ProblemName,
    draws: Annotated[
        int | None, typer.Option(min=2, max=10_000, help="Functions drawn from the prior; 64, on a continuous plant 8.")
    ] = None,
    seed: Seed = 1,
    regret: Annotated[
        float | None, typer.Option(help="What counts as good enough, in the unit of the output.", min=0.0)
    ] = None,
    vary: Annotated[
        str | None, typer.Option(metavar="NAMES", help="horizon, noise, both with a comma between them, or none.")
    ] = None,
    settings: SettingsFile = None,
    set_: Assignments = None,
    preset: Preset = None,
    output: Annotated[Path | None, typer.Option(metavar="PAGE.html", help="Write a page with the curves.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a page that is there already.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Before the first experiment: expected regret, how many experiments are likely needed, and whether planning pays."""
    from tcbo_pyomo.library import load_problem
    from tcbo_pyomo.report.page import check_output
    from tcbo_pyomo.settings import settings_from
    from tcbo_pyomo.studies.rehearsed.rehearse import new_report

    varied = _varied(vary)
    if output is not None:
        check_output(output, force)
    layers = layers_of(settings, set_, preset)
    built = load_problem(problem, feedback_kind(layers), seed)
    report = new_report(built, settings_from(dict(built.settings), *layers), seed, regret)
    try:
        _with_progress(report, draws, varied)
    except KeyboardInterrupt:
        if not report.rehearsed:
            raise
        _show(report, output, force, json)
        raise
    _show(report, output, force, json)


def _varied(names: str | None) -> Any:
    """What is varied; None for what is usual."""
    if names is None:
        return None
    given = [name.strip() for name in names.split(",") if name.strip() not in ("", "none")]
    if wrong := [name for name in given if name not in VARIED]:
        raise BadInput(f"--vary {wrong[0]!r}: it must be horizon, noise, both with a comma between them, or none")
    return given


def _with_progress(report: RehearsalReport, draws: int | None, vary: Any) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from tcbo_pyomo.studies.rehearsed.rehearse import rehearse as rehearsed

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(report.problem.name, total=None)

        def on_progress(label: str, made: int, wanted: int) -> None:
            progress.update(task, completed=made, total=wanted, description=f"{report.problem.name}, {label}")

        rehearsed(report.problem, report.settings, draws, report.seed, None, vary, on_progress, report)


def _show(report: RehearsalReport, output: Path | None, force: bool, json: bool) -> None:
    from tcbo_pyomo.studies.rehearsed.rehearsal_page import TITLES, table_rows, write_page

    if output is not None:
        write_page(report, output, f"tcbo {shlex.join(sys.argv[1:])}", force)
    if json:
        from json import dumps

        typer.echo(dumps(report.to_dict(), indent=1))
        return
    table = new_table(*TITLES[:2], right=tuple(TITLES[2:]))
    for row in table_rows(report):
        table.add_row(*row)
    print_table(table)
    for answer in report.answers:
        typer.echo(answer)
    where = f"; the page is {output}" if output is not None else ""
    state = "" if report.complete else "interrupted: this is what was simulated until then; "
    typer.echo(f"{state}functions were drawn from the prior, which was taken as right{where}")
