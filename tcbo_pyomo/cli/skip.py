"""`tcbo skip CAMPAIGN.db`: skip a move, or end an episode."""

from __future__ import annotations

from typing import Annotated

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile, Key, MoveNumber, OwnProblem, Place, confirm, open_file, place_of
from tcbo_pyomo.cli._output import say
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.wording import counted

PANEL, POSITION = "A campaign on a real plant", 24


def skip(
    campaign: CampaignFile,
    move: MoveNumber = None,
    at: Place = None,
    episode: Annotated[bool, typer.Option("--episode", help="End the episode here.")] = False,
    key: Key = None,
    problem: OwnProblem = None,
) -> None:
    """Skip a move that could not be made or whose result is lost; --at says where the plant is, if elsewhere."""
    if episode and (move is not None or at):
        raise BadInput("--episode skips all its remaining moves; leave out --move and --at")
    opened = open_file(campaign, problem)
    if episode:
        say(f"recorded: the episode ends {counted(opened.give_up(key), 'move')} early; next: tcbo ask {campaign}")
        return
    receipt = opened.skip(move, place_of(at), key)
    confirm((receipt, f"move {receipt.number} has no result; next: tcbo ask {campaign}"))
