"""`tcbo explain WHERE`: why the next move, what it is expected to teach, and what the limits cost."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer


def explain(
    where: Annotated[Path, typer.Argument(help="CAMPAIGN.db, a saved campaign, or the folder of a run.")],
    problem: Annotated[
        str | None, typer.Option(help="A name from `tcbo problems` or a .py file; needed for a saved campaign.")
    ] = None,
    gap: Annotated[float | None, typer.Option(help="How closely the optimum is enclosed; 0.01 when not given.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print plain data instead of text.")] = False,
) -> None:
    """Explain the next move of a campaign: the pair it separates, runner-up moves, and the price of every limit."""
    import json

    from tcbo_pyomo.errors import BadInput
    from tcbo_pyomo.explain.as_text import explanation_text
    from tcbo_pyomo.explain.explanation import explain as explain_campaign
    from tcbo_pyomo.records import in_memory, open_campaign

    # Settings may name a class of the user's, "my_module:MyRule", that stands in the current folder.
    sys.path.append(os.getcwd())
    if gap is not None and not 0.0 < gap < 1.0:
        raise BadInput(f"--gap {gap:g} must lie between 0 and 1, as in 0.01 for 1 %")
    campaign = in_memory(open_campaign(where, problem))
    found = explain_campaign(campaign, gap)
    if json_:
        typer.echo(json.dumps(found.to_dict(), indent=2, allow_nan=False))
    else:
        typer.echo(explanation_text(found, campaign.problem.coordinates))


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(explain)
