"""`tcbo tell CAMPAIGN.db VALUE`: the result of a move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile, MoveNumber, OwnProblem, Place, confirm, open_file, place_of
from tcbo_pyomo.errors import BadInput

PANEL, POSITION = "A campaign on a real plant", 22
# A negative result such as -0.5 is a value, not an option.
CONTEXT = {"ignore_unknown_options": True}


def tell(
    campaign: CampaignFile,
    value: Annotated[str | None, typer.Argument(help="The measurement.")] = None,
    move: MoveNumber = None,
    unit: Annotated[str | None, typer.Option(help="Unit of the value, if not that of the problem.")] = None,
    at: Place = None,
    replicate: Annotated[bool, typer.Option("--replicate", help="One more measurement of the same visit.")] = False,
    key: Annotated[str | None, typer.Option(help="Telling again under the same key changes nothing.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Many results: all are kept or none.")] = None,
    problem: OwnProblem = None,
) -> None:
    """Give the result of a move, or a file of results."""
    from tcbo_pyomo.knowledge.criticism import doubts
    from tcbo_pyomo.records.results_file import read_results

    single = (value, move, unit, at, key)
    if csv is not None and (any(given is not None for given in single) or replicate):
        raise BadInput("--csv FILE holds moves, values, units and keys itself; leave out VALUE and the other options")
    if csv is None and value is None:
        raise BadInput("give the measurement, `tcbo tell CAMPAIGN.db VALUE`, or a file of them with --csv")
    number, place = _measurement(value), place_of(at)
    opened = open_file(campaign, problem)
    if csv is None:
        receipts = [opened.tell(move, number, place, unit=unit, replicate=replicate, key=key)]
    else:
        receipts = opened.tell_many(read_results(csv, opened.problem, opened.history))
    for receipt in receipts:
        again = "" if receipt.new else ", as before"
        confirm(receipt, f"recorded{again}: move {receipt.number}, {opened.problem.output} = {receipt.value!r}")
    for text in doubts(opened.knowledge, {receipt.number for receipt in receipts if receipt.new}):
        typer.echo(f"warning: {text}", err=True)


def _measurement(text: str | None) -> float:
    """The number that was typed; what a file would refuse is refused here."""
    from tcbo_pyomo.foundation.csv_table import finite_number

    try:
        return 0.0 if text is None else finite_number(text, "measurement")
    except BadInput:
        raise BadInput(f"measurement {text!r} is not a finite number, such as 0.31; nothing was recorded") from None
