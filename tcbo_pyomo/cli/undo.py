"""`tcbo undo CAMPAIGN.db`: undo the last entry."""

from __future__ import annotations

from typing import Annotated

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile, Key, OwnProblem, open_file
from tcbo_pyomo.cli._output import say

PANEL, POSITION = "A campaign on a real plant", 25


MoveToCorrect = Annotated[
    int | None, typer.Option("--move", min=1, help="Undo what was last recorded of this move. Default: of any move.")
]


def undo(campaign: CampaignFile, move: MoveToCorrect = None, key: Key = None, problem: OwnProblem = None) -> None:
    """Undo the last result, arrival or skip; the file keeps it as a recorded correction."""
    say(f"undone: {open_file(campaign, problem).undo(move, key)}")
