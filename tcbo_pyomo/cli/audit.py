"""`tcbo audit WHERE`: did every executed move keep the declared constraints?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._options import layers_of, read_source
from tcbo_pyomo.cli._tables import new_table, print_table
from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.checks.audit import AuditFinding
    from tcbo_pyomo.problem.protocol import ProblemProtocol

PANEL, POSITION = "Looking into a campaign", 33
VIOLATIONS_FOUND = 1


def audit(
    where: Annotated[Path, typer.Argument(help="CAMPAIGN.db, saved campaign, folder of a run, or CSV of set-points.")],
    problem: Annotated[
        str | None, typer.Option(help="A name from `tcbo problems` or a .py file; needed for CSV and saved campaigns.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Settings whose start and constraints hold for a CSV.")
    ] = None,
) -> None:
    """List every executed move that breaks a declared constraint; the exit code is 1 if there is one, 0 if none."""
    from tcbo_pyomo.checks.audit import unaudited

    findings, built, moves = _audited(where, problem, settings)
    if findings:
        table = new_table("constraint", "allowed", "done", right=("row", "episode", "step"))
        for found in findings:
            numbers = (str(found.row), str(found.episode), str(found.step))
            table.add_row(found.constraint, found.limit, found.value, *numbers)
        print_table(table)
    if names := unaudited(built):
        typer.echo(f"not judged, for their limits are not in plain arithmetic: {', '.join(names)}", err=True)
    number = f"{len(findings) or 'no'} violation{'' if len(findings) == 1 else 's'}"
    typer.echo(f"{where}: {number} in {moves} move{'' if moves == 1 else 's'} of {built.name}")
    if findings:
        raise typer.Exit(VIOLATIONS_FOUND)


def _audited(
    where: Path, problem: str | None, settings: Path | None
) -> tuple[list[AuditFinding], ProblemProtocol, int]:
    """What was found, the problem with its settings, and how many moves were looked at."""
    from tcbo_pyomo.checks.audit import audit_campaign, audit_episodes
    from tcbo_pyomo.checks.executed_path import episodes_of_table
    from tcbo_pyomo.records.opening import is_campaign_file

    if not where.is_file() or where.suffix == ".json" or is_campaign_file(where):
        if settings is not None:
            raise BadInput("--settings is for a CSV file; a campaign has its own")
        campaign = read_source(where, problem)
        return audit_campaign(campaign), campaign.problem, campaign.history.moves_made
    if problem is None:
        raise BadInput(f"'{where}' is a table of set-points; name the problem whose constraints hold with --problem")
    built = _problem(problem, settings)
    episodes = episodes_of_table(built, where)
    return audit_episodes(built, episodes), built, sum(len(episode.rows) for episode in episodes)


def _problem(name: str, settings: Path | None) -> ProblemProtocol:
    from tcbo_pyomo.library import load_problem
    from tcbo_pyomo.problem.with_settings import with_settings
    from tcbo_pyomo.settings import settings_from

    built = load_problem(name)
    return with_settings(built, settings_from(dict(built.settings), *layers_of(settings)))
