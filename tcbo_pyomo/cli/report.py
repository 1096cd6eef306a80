"""`tcbo report WHERE --output page.html`: where a campaign stands, as one page."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer


def report(
    where: Annotated[Path, typer.Argument(help="CAMPAIGN.db, a saved campaign, or the folder of a run.")],
    output: Annotated[Path, typer.Option(metavar="PAGE.html", help="The page to write.")],
    problem: Annotated[
        str | None, typer.Option(help="A name from `tcbo problems` or a .py file; needed for a saved campaign.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a page that is there already.")] = False,
) -> None:
    """Write one self-contained HTML page about a campaign, running or finished; the campaign is only read."""
    from tcbo_pyomo.records import in_memory, open_campaign
    from tcbo_pyomo.report.page import check_output, write_report

    # Settings may name a class of the user's, "my_module:MyRule", that stands in the current folder.
    sys.path.append(os.getcwd())
    check_output(output, force)
    campaign = in_memory(open_campaign(where, problem))
    write_report(campaign, output, list(campaign.plans.values()), force)
    history = campaign.history
    typer.echo(f"wrote {output}: {history.moves_made} moves, {len(history.told)} results of {campaign.problem.name}")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(report)
