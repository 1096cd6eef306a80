"""`tcbo explain WHERE`: why the next move, what it is expected to teach, and what the limits cost."""

from __future__ import annotations

from typing import Annotated

import typer

from tcbo_pyomo.cli._options import Gap, ProblemOfSource, Source, TimeLimit, Trust, read_source

PANEL, POSITION = "Looking into a campaign", 30


def explain(
    where: Source,
    problem: ProblemOfSource = None,
    gap: Gap = None,
    time_limit: TimeLimit = 60.0,
    trust: Trust = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Explain the next move of a campaign: what it distinguishes, the runners-up, and the shadow price of each limit."""
    import json

    from tcbo_pyomo.explain.as_text import explanation_text
    from tcbo_pyomo.explain.explanation import explain as explain_campaign
    from tcbo_pyomo.knowledge.belief_in_words import belief_lines, belief_now
    from tcbo_pyomo.knowledge.mechanism_in_words import explained_at

    campaign = read_source(where, problem, trust)
    found = explain_campaign(campaign, gap, time_limit)
    if json_:
        belief = belief_now(campaign.knowledge).to_dict()
        typer.echo(json.dumps({**found.to_dict(), "belief": belief}, indent=2, allow_nan=False))
    else:
        typer.echo(explanation_text(found, campaign.problem.coordinates))
        typer.echo("\n" + "\n".join(belief_lines(campaign.knowledge)))
        if (split := explained_at(campaign.knowledge, campaign.recommendation)) is not None:
            output = campaign.problem.output
            typer.echo(f"{output} at the recommendation: {split.in_words(campaign.problem.output_unit)}")
