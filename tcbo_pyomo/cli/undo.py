"""`tcbo undo CAMPAIGN.db`: the last entry is taken back."""

from __future__ import annotations

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile, MoveNumber, OwnProblem, open_file

PANEL, POSITION = "A campaign on a real plant", 25


def undo(campaign: CampaignFile, move: MoveNumber = None, problem: OwnProblem = None) -> None:
    """Take back the last result, arrival or skip; it stays in the file as a recorded correction."""
    typer.echo(f"taken back: {open_file(campaign, problem).undo(move)}")
