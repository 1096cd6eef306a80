"""`tcbo export CAMPAIGN.db FILE.csv`: all moves and measurements as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile, OwnProblem, open_file
from tcbo_pyomo.cli._output import say

PANEL, POSITION = "A campaign on a real plant", 28


def export(
    campaign: CampaignFile,
    output: Annotated[Path, typer.Argument(metavar="FILE.csv", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    problem: OwnProblem = None,
) -> None:
    """Write all moves and measurements to a CSV file."""
    rows = open_file(campaign, problem).export(output, force)
    say(f"wrote {rows} rows to {output}", advice="the file is there")
