"""What the commands of a real campaign share: the campaign file, the place of a move, and warnings of broken limits."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo.cli._options import name_and_value
from tcbo_pyomo.cli._output import say, warn
from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.records import DurableCampaign, Receipt

CampaignFile = Annotated[Path, typer.Argument(metavar="CAMPAIGN.db", help="The campaign file.")]
OwnProblem = Annotated[
    Path | None, typer.Option("--problem", metavar="FILE.py", help="Your problem file, if you moved or edited it.")
]
MoveNumber = Annotated[int | None, typer.Option("--move", min=1, help="Number of the move. Default: the outstanding one.")]
Place = Annotated[
    list[str] | None, typer.Option("--at", metavar="NAME=VALUE", help="Where the plant really was; repeat for each coordinate.")
]
Key = Annotated[str | None, typer.Option("--key", help="Idempotency key: a repeated command with it changes nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def open_file(campaign: Path, problem: Path | None, trust: bool = False) -> DurableCampaign:
    """The campaign of a file."""
    from tcbo_pyomo.records import DurableCampaign, open_campaign

    # Broken limits are printed by the command itself.
    logging.getLogger("tcbo_pyomo.records").addHandler(logging.NullHandler())
    opened = open_campaign(campaign, problem, trust=trust)
    if not isinstance(opened, DurableCampaign):
        raise BadInput(f"{campaign}: is not a campaign file of `tcbo start`; only such a file records what is asked and told")
    return opened


def place_of(at: list[str] | None) -> dict[str, Any] | None:
    """The place that was typed, `{coordinate: value}`."""
    if not at:
        return None
    place: dict[str, Any] = {}
    for text in at:
        name, value = name_and_value("--at", text, "ratio=0.3 or 'time=5 min'")
        if name in place:
            raise BadInput(f"--at: coordinate '{name}' is given twice")
        place[name] = value
    return place


def confirm(*done: tuple[Receipt, str]) -> None:
    """Say what was recorded, now or before, and which limits the moves broke."""
    for receipt, _ in done:
        for text in receipt.violations:
            warn(f"move {receipt.number} broke a declared limit; the move is recorded: {text}")
    say("\n".join(f"recorded{'' if receipt.new else ' already'}: {message}" for receipt, message in done))
