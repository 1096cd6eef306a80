"""`tcbo undo CAMPAIGN.db`: undo the last entry."""

from __future__ import annotations

from tcbo_pyomo.cli._campaign_file import CampaignFile, Key, MoveNumber, OwnProblem, open_file
from tcbo_pyomo.cli._output import say

PANEL, POSITION = "A campaign on a real plant", 25


def undo(campaign: CampaignFile, move: MoveNumber = None, key: Key = None, problem: OwnProblem = None) -> None:
    """Undo the last result, arrival or skip; the file keeps it as a recorded correction."""
    say(f"undone: {open_file(campaign, problem).undo(move, key)}")
