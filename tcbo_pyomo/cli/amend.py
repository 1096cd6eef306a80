"""`tcbo amend CAMPAIGN.db`: use changed limits, prior, horizon or settings from now on."""

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
    """Show what changed in the problem and continue with it, keeping all data; earlier moves keep their limits."""
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
                f"{campaign}: nothing was recorded; repeat the command with --yes to continue with the right column"
            )
        return typer.confirm("Continue with the right column and keep all data?")

    opened = open_file(campaign, None, trust)
    changes = opened.amend(problem, merged(*layers_of(None, set_)), confirm=agreed)
    if not changes:
        typer.echo(f"{campaign}: unchanged")
        return
    move = opened.history.open_move
    left = "" if move is None else f"; move {move.number} was asked for before the change; `skip` it to plan it again"
    say(f"amended {campaign}: {'; '.join(change.in_words() for change in changes)}{left}")
