"""`tcbo report WHERE --output page.html`: where a campaign stands, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcbo_pyomo.cli._options import ProblemOfSource, Source, read_source

PANEL, POSITION = "Looking into a campaign", 32


def report(
    where: Source,
    output: Annotated[Path, typer.Option(metavar="PAGE.html", help="The page to write.")],
    problem: ProblemOfSource = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a page that is there already.")] = False,
) -> None:
    """Write one self-contained HTML page about a campaign, running or finished; the campaign is only read."""
    from tcbo_pyomo.report.page import check_output, write_report

    check_output(output, force)
    campaign = read_source(where, problem)
    write_report(campaign, output, list(campaign.plans.values()), force)
    history = campaign.history
    typer.echo(f"wrote {output}: {history.moves_made} moves, {len(history.told)} results of {campaign.problem.name}")
