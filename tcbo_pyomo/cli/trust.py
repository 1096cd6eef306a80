"""`tcbo trust CAMPAIGN.db`: the code that a campaign file names may run here."""

from __future__ import annotations

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile
from tcbo_pyomo.cli._output import say
from tcbo_pyomo.errors import DiskError

PANEL, POSITION = "A campaign on a real plant", 29


def trust(campaign: CampaignFile) -> None:
    """Show the code that a campaign file names, say whether it changed, and allow it to run."""
    from tcbo_pyomo.records.opening import trust_campaign
    from tcbo_pyomo.records.trust import trust_folder

    code, remembered = trust_campaign(campaign)
    shown = [f"{one.in_words()}" + (f"; {now}" if now else "") for one, now in code]
    if not remembered:
        typer.echo("\n".join(shown))
        raise DiskError(f"{trust_folder()}: cannot be written; use --trust with each command that needs it")
    last = f"{campaign}: trusted" if code else f"{campaign}: names no code; there is nothing to trust"
    say("\n".join([*shown, last]))
