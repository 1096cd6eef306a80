"""`tcbo best CAMPAIGN.db`: the recommendation."""

from __future__ import annotations

import typer

from tcbo_pyomo.cli._campaign_file import AsJson, CampaignFile, OwnProblem, open_file
from tcbo_pyomo.cli._options import Trust

PANEL, POSITION = "A campaign on a real plant", 27


def best(campaign: CampaignFile, json: AsJson = False, problem: OwnProblem = None, trust: Trust = False) -> None:
    """Print the recommendation with its uncertainty."""
    from tcbo_pyomo.cli._campaign_texts import best_as_text, to_json

    opened = open_file(campaign, problem, trust)
    found = opened.best()
    typer.echo(to_json(found) if json else best_as_text(opened.problem, found), nl=False)
