"""`tcbo arrive CAMPAIGN.db`: a move was made, its result comes later."""

from __future__ import annotations

import typer

from tcbo_pyomo.cli._campaign_file import (
    CampaignFile,
    MoveNumber,
    OwnProblem,
    Place,
    open_file,
    place_of,
    warn_of_violations,
)

PANEL, POSITION = "A campaign on a real plant", 23


def arrive(campaign: CampaignFile, move: MoveNumber = None, at: Place = None, problem: OwnProblem = None) -> None:
    """A move was made, its result comes later."""
    opened = open_file(campaign, problem)
    receipt = opened.arrive(move, place_of(at))
    typer.echo(f"recorded: move {receipt.number} was made")
    warn_of_violations(receipt)
