"""`tcbo undo CAMPAIGN.db`: the last entry is taken back."""

from __future__ import annotations

from tcbo_pyomo.cli._campaign_file import CampaignFile, Key, MoveNumber, OwnProblem, open_file
from tcbo_pyomo.cli._output import say

PANEL, POSITION = "A campaign on a real plant", 25


def undo(campaign: CampaignFile, move: MoveNumber = None, key: Key = None, problem: OwnProblem = None) -> None:
    """Take back the last result, arrival or skip; it stays in the file as a recorded correction."""
    say(f"taken back: {open_file(campaign, problem).undo(move, key)}")
