"""`tcbo trust CAMPAIGN.db`: the code that a campaign file names may run here."""

from __future__ import annotations

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile
from tcbo_pyomo.cli._output import say
from tcbo_pyomo.errors import DiskError

PANEL, POSITION = "A campaign on a real plant", 29


def trust(campaign: CampaignFile) -> None:
    """Show the code that a campaign file names, with its hash, and let it run from now on; nothing runs now."""
    from tcbo_pyomo.records.opening import trust_campaign
    from tcbo_pyomo.records.trust import trust_folder

    code, remembered = trust_campaign(campaign)
    for one in code:
        typer.echo(one.in_words())
    if not remembered:
        raise DiskError(f"{trust_folder()}: cannot be written; use --trust with each command that needs it")
    say(f"{campaign}: trusted" if code else f"{campaign}: names no code of anybody's; there is nothing to trust")
