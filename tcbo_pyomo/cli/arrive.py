"""`tcbo arrive CAMPAIGN.db`: mark a move as made; its result comes later."""

from __future__ import annotations

from tcbo_pyomo.cli._campaign_file import CampaignFile, Key, MoveNumber, OwnProblem, Place, confirm, open_file, place_of

PANEL, POSITION = "A campaign on a real plant", 23


def arrive(
    campaign: CampaignFile, move: MoveNumber = None, at: Place = None, key: Key = None, problem: OwnProblem = None
) -> None:
    """Mark a move as made; its result comes later."""
    receipt = open_file(campaign, problem).arrive(move, place_of(at), key)
    confirm((receipt, f"move {receipt.number} was made"))
