"""`tcbo status CAMPAIGN.db`: the state of a campaign."""

from __future__ import annotations

import typer

from tcbo_pyomo.cli._campaign_file import AsJson, CampaignFile, OwnProblem, open_file

PANEL, POSITION = "A campaign on a real plant", 26


def status(campaign: CampaignFile, json: AsJson = False, problem: OwnProblem = None) -> None:
    """Print the state of a campaign."""
    from tcbo_pyomo.cli._campaign_texts import status_as_text, to_json

    found = open_file(campaign, problem).status()
    typer.echo(to_json(found) if json else status_as_text(found), nl=False)
