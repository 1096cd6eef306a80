"""`tcbo check PROBLEM`: is it what you meant?"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._options import ProblemName, SettingsFile
from tcbo_pyomo.cli._tables import new_table, print_table
from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.foundation.atomic_file import refuse_to_replace, write_atomically

if TYPE_CHECKING:
    from tcbo_pyomo.checks.finding import Finding
    from tcbo_pyomo.problem.protocol import ProblemProtocol

PANEL, POSITION = "Problems and simulations", 12
ERRORS_FOUND = 2


def check(
    problem: ProblemName,
    settings: SettingsFile = None,
    output: Annotated[Path | None, typer.Option(metavar="PICTURE.png", help="Draw the moves to a file.")] = None,
) -> None:
    """Check a problem before a campaign: dead ends, unreachable states, conflicts, wrong scales."""
    from tcbo_pyomo.foundation.settings_file import read_settings

    if output is not None:
        if output.suffix not in (".png", ".pdf", ".svg"):
            raise BadInput(f"picture '{output}' must end in .png, .pdf or .svg")
        refuse_to_replace(output)
    findings, built = _findings(problem, read_settings(settings) if settings else {})
    table = new_table("result", "looked at", "found")
    for finding in findings:
        table.add_row(finding.level, finding.subject, finding.message)
    print_table(table)
    if output is not None and built is not None:
        _write_picture(built, output)
    levels = [finding.level for finding in findings]
    where = f"; the moves are drawn in {output}" if output is not None and built is not None else ""
    typer.echo(f"{problem}: {_count(levels, 'error')}, {_count(levels, 'warning')}{where}")
    if "error" in levels:
        raise typer.Exit(ERRORS_FOUND)


def _findings(name: str, layer: dict) -> tuple[list[Finding], ProblemProtocol | None]:
    """What was found, and the problem with its settings if it could be built."""
    from tcbo_pyomo.checks.finding import Finding
    from tcbo_pyomo.checks.problem_check import check_problem
    from tcbo_pyomo.library import load_problem
    from tcbo_pyomo.problem.with_settings import with_settings
    from tcbo_pyomo.settings import settings_from

    feedback = layer.get("feedback")
    kind = feedback.get("kind") if isinstance(feedback, dict) else None
    try:
        built = load_problem(name, kind)
    except TcboError as error:
        return [Finding("error", "problem", str(error))], None
    try:
        chosen = settings_from(dict(built.settings), layer)
    except TcboError as error:
        return [Finding("error", "settings", str(error))], built
    findings = check_problem(built, chosen)
    try:
        return findings, with_settings(built, chosen)
    except TcboError:
        return findings, built


def _write_picture(problem: ProblemProtocol, output: Path) -> None:
    from tcbo_pyomo.report.figures.canvas import figure_of
    from tcbo_pyomo.report.figures.move_graph_figure import move_graph_figure

    picture = BytesIO()
    figure_of(move_graph_figure(problem)).savefig(picture, dpi=200, format=output.suffix[1:])
    write_atomically(output, picture.getvalue())


def _count(levels: Sequence[str], level: str) -> str:
    number = levels.count(level)
    return f"{number or 'no'} {level}{'' if number == 1 else 's'}"
