"""`tcbo audit WHERE`: did every executed move keep the declared constraints?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._options import layers_of, look_at
from tcbo_pyomo.cli._tables import new_table, print_table
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.limited_read import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from tcbo_pyomo.checks.audit import Audit, AuditFinding
    from tcbo_pyomo.problem.protocol import ProblemProtocol

PANEL, POSITION = "Looking into a campaign", 33
VIOLATIONS_FOUND = 1


def audit(
    where: Annotated[
        Path, typer.Argument(help="CAMPAIGN.db, saved campaign, folder of a run, or CSV of set-points (- for standard input).")
    ],
    problem: Annotated[
        str | None, typer.Option(help="A name from `tcbo problems` or a .py file; needed for CSV and saved campaigns.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Settings with the start and constraints of a CSV.")
    ] = None,
) -> None:
    """List the executed moves that break a declared constraint. Exit code 1 if there are any, else 0."""
    found, built = _audited(where, problem, settings)
    if found.findings:
        print_table(_table(found.findings, "allowed"))
    if found.misses:
        typer.echo(
            "the plant ended elsewhere than its model predicts (no violation if another allowed action leads there):"
        )
        print_table(_table(found.misses, "expected"))
    if found.unjudged:
        typer.echo(f"not checked: {', '.join(found.unjudged)}{_advice(found, where)}", err=True)
    number = f"{len(found.findings) or 'no'} violation{'' if len(found.findings) == 1 else 's'}"
    moves = f"{found.moves} move{'' if found.moves == 1 else 's'}"
    limit = "; not everything could be checked" if found.unjudged else ""
    typer.echo(f"{where}: {number} in {moves} of {built.name}{limit}")
    if found.findings:
        raise typer.Exit(VIOLATIONS_FOUND)


def _advice(found: Audit, where: Path) -> str:
    """How to check the dynamics of a campaign whose file does not hold them."""
    from tcbo_pyomo.checks.audit import DYNAMICS

    if DYNAMICS not in found.unjudged or where.suffix == ".csv":
        return ""
    return f"; the problem's own code checks the dynamics: tcbo audit {where} --problem PROBLEM.py"


def _table(findings: Sequence[AuditFinding], allowed: str) -> Table:
    table = new_table("constraint", allowed, "done", right=("row", "episode", "step"))
    for found in findings:
        table.add_row(found.constraint, found.limit, found.value, str(found.row), str(found.episode), str(found.step))
    return table


def _audited(where: Path, problem: str | None, settings: Path | None) -> tuple[Audit, ProblemProtocol]:
    """What was found, and the problem with its settings."""
    from tcbo_pyomo.checks.audit import DYNAMICS, full_audit, full_campaign_audit
    from tcbo_pyomo.checks.executed_path import episodes_of_table
    from tcbo_pyomo.records.opening import in_memory, is_campaign_file, open_campaign

    given = where.is_file() or str(where) == STANDARD_INPUT
    if not given or where.suffix == ".json" or is_campaign_file(where):
        if settings is not None:
            raise BadInput("--settings is for a CSV file; a campaign has its own")
        campaign = look_at(where, problem)
        found = full_campaign_audit(campaign)
        if problem is not None and DYNAMICS in found.unjudged:
            # Whoever names the problem runs its code, which can judge what the data in the file do not say.
            found = full_campaign_audit(in_memory(open_campaign(where, problem)))
        return found, campaign.problem
    if problem is None:
        raise BadInput(f"'{where}' is a table of set-points; name its problem with --problem")
    built = _problem(problem, settings)
    return full_audit(built, episodes_of_table(built, where)), built


def _problem(name: str, settings: Path | None) -> ProblemProtocol:
    from tcbo_pyomo.library import load_problem
    from tcbo_pyomo.problem.with_settings import with_settings
    from tcbo_pyomo.settings import settings_from

    built = load_problem(name)
    return with_settings(built, settings_from(dict(built.settings), *layers_of(settings)))
