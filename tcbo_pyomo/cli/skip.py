"""`tcbo skip CAMPAIGN.db`: a move or an episode is given up."""

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
    episode: Annotated[bool, typer.Option("--episode", help="Give up the rest of the episode.")] = False,
    key: Key = None,
    problem: OwnProblem = None,
) -> None:
    """A move could not be made, or its result is lost; --at where the plant is if it is not where it was."""
    if episode and (move is not None or at):
        raise BadInput("--episode gives up all moves that are left in it; leave out --move and --at")
    opened = open_file(campaign, problem)
    if episode:
        say(f"recorded: the episode ends {counted(opened.give_up(key), 'move')} early; next: tcbo ask {campaign}")
        return
    receipt = opened.skip(move, place_of(at), key)
    confirm((receipt, f"move {receipt.number} gives no result; next: tcbo ask {campaign}"))
