"""`tcbo report WHERE --output page.html`: the state of a campaign as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._options import ProblemOfSource, Source, Trust, look_at, read_source
from tcbo_pyomo.cli._output import say, warn
from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.campaign.campaign import Campaign

PANEL, POSITION = "Looking into a campaign", 32


def report(
    where: Source,
    output: Annotated[Path, typer.Option(metavar="PAGE.html", help="The page to write.")],
    problem: ProblemOfSource = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing page.")] = False,
    trust: Trust = False,
) -> None:
    """Write one self-contained HTML page about a campaign, running or finished."""
    from tcbo_pyomo.foundation.wording import counted
    from tcbo_pyomo.report.page import check_output, write_report

    check_output(output, force)
    campaign = _with_code_if_it_may_run(where, problem, trust)
    write_report(campaign, output, list(campaign.plans.values()), force)
    history = campaign.history
    past = f" and {counted(len(history.past), 'past result')}" if history.past else ""
    told = f"{history.moves_made} moves, {len(history.told)} results{past} of {campaign.problem.name}"
    say(f"wrote {output}: {told}", advice="the file is there")


def _with_code_if_it_may_run(where: Path, problem: str | None, trust: bool) -> Campaign:
    """The campaign with its code, whose next move can be explained; else its data, and why."""
    try:
        return read_source(where, problem, trust)
    except BadInput as error:
        campaign = look_at(where, problem)
        warn(f"the page has the data of the file and explains no move: {error}")
        return campaign
