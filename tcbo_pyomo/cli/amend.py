"""`tcbo amend CAMPAIGN.db`: changed limits, prior, horizon or settings hold from now on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile, OwnProblem, open_file
from tcbo_pyomo.cli._options import Assignments, Trust, layers_of
from tcbo_pyomo.cli._output import say
from tcbo_pyomo.cli._tables import new_table, print_table
from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.problem.declared_changes import Change

PANEL, POSITION = "A campaign on a real plant", 29


def amend(
    campaign: CampaignFile,
    problem: OwnProblem = None,
    set_: Assignments = None,
    yes: Annotated[bool, typer.Option("--yes", help="Record the change without asking.")] = False,
    trust: Trust = False,
) -> None:
    """Show what has changed in the problem, and go on under it with all data; moves keep the limits they were asked under."""
    from tcbo_pyomo.settings import merged

    def agreed(changes: list[Change]) -> bool:
        table = new_table("what", "recorded", "now")
        for change in changes:
            table.add_row(change.what, change.before, change.after)
        print_table(table)
        if yes:
            return True
        if not sys.stdin.isatty():
            raise BadInput(
                f"{campaign}: nothing was recorded; repeat the command with --yes to go on under the right column"
            )
        return typer.confirm("Go on under the right column, with all data?")

    opened = open_file(campaign, None, trust)
    changes = opened.amend(problem, merged(*layers_of(None, set_)), confirm=agreed)
    if not changes:
        typer.echo(f"{campaign}: left as it was")
        return
    move = opened.history.open_move
    left = "" if move is None else f"; move {move.number} was asked for before: `skip` it to have it planned anew"
    say(f"amended {campaign}: {'; '.join(change.in_words() for change in changes)}{left}")
