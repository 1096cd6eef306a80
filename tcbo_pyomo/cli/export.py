"""`tcbo export CAMPAIGN.db FILE.csv`: all moves and measurements as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile, OwnProblem, open_file
from tcbo_pyomo.cli._output import say

PANEL, POSITION = "A campaign on a real plant", 28
STANDARD_OUTPUT = "-"


def export(
    campaign: CampaignFile,
    output: Annotated[Path, typer.Argument(metavar="FILE.csv", help="The file to write; - for standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    problem: OwnProblem = None,
) -> None:
    """Write all moves and measurements to a CSV file."""
    from tcbo_pyomo.records.status import move_table, table_text

    opened = open_file(campaign, problem)
    if str(output) == STANDARD_OUTPUT:
        # Bytes: the same as in a file, whatever the terminal's encoding.
        typer.echo(table_text(move_table(opened.campaign, opened.violations)), nl=False)
        return
    rows = opened.export(output, force)
    say(f"wrote {rows} rows to {output}", advice="the file is there")
