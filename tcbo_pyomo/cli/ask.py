"""`tcbo ask CAMPAIGN.db`: the next move."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._campaign_file import AsJson, CampaignFile, OwnProblem, open_file
from tcbo_pyomo.cli._options import Trust
from tcbo_pyomo.cli._output import say, warn
from tcbo_pyomo.errors import BadInput, EnoughKnown

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.history import Move

PANEL, POSITION = "A campaign on a real plant", 21


def ask(
    campaign: CampaignFile,
    episode: Annotated[bool, typer.Option("--episode", help="Ask for all remaining moves of the episode.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print as CSV, to fill in for `tell --csv`.")] = False,
    json: AsJson = False,
    new: Annotated[
        bool, typer.Option("--new", help="Mark the outstanding move as made, and plan the next one.")
    ] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Continue although enough is known (setting stop).")] = False,
    problem: OwnProblem = None,
    trust: Trust = False,
) -> None:
    """Print the next move; it stays the same until you tell its result. Nothing is planned once enough is known."""
    from tcbo_pyomo.cli._campaign_texts import moves_as_csv, moves_as_json, moves_as_text
    from tcbo_pyomo.planning.fall_backs import fall_backs

    if csv and json:
        raise BadInput("--csv and --json: choose one of them")
    opened = open_file(campaign, problem, trust)
    moves: list[Move] = []
    with suppress(EnoughKnown):
        moves = opened.ask_episode(new, anyway) if episode else [opened.ask(new, anyway)]
    show = moves_as_csv if csv else moves_as_json if json else moves_as_text
    say(show(opened, moves), nl=False, advice="ask again to see it")
    fallen = fall_backs(opened.plans.get(move.number) for move in moves)
    if fallen.number:
        warn(str(fallen))
