"""`tcbo tell CAMPAIGN.db VALUE`: the result of a move."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._campaign_file import CampaignFile, Key, MoveNumber, OwnProblem, Place, confirm, open_file, place_of
from tcbo_pyomo.cli._output import warn
from tcbo_pyomo.errors import BadInput, TcboError

if TYPE_CHECKING:
    from tcbo_pyomo.records import DurableCampaign, Receipt

PANEL, POSITION = "A campaign on a real plant", 22
# A negative result such as -0.5 is a value, not an option.
CONTEXT = {"ignore_unknown_options": True}


def tell(
    campaign: CampaignFile,
    value: Annotated[str | None, typer.Argument(help="The measurement, such as 0.31 or '35 %'.")] = None,
    move: MoveNumber = None,
    unit: Annotated[str | None, typer.Option(help="Unit of the value, if it is not the problem's.")] = None,
    at: Place = None,
    time: Annotated[float | None, typer.Option(help="Time since the move began, if measured on the way.")] = None,
    replicate: Annotated[bool, typer.Option("--replicate", help="A repeated measurement of the same visit.")] = False,
    key: Key = None,
    yes_really: Annotated[bool, typer.Option("--yes-really", help="Confirm an unlikely result.")] = False,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Results: all are recorded, or none; blank: outstanding. - for standard input."),
    ] = None,
    problem: OwnProblem = None,
) -> None:
    """Record the result of a move, or a file of results."""
    from tcbo_pyomo.knowledge.criticism import contradictions
    from tcbo_pyomo.records import Result
    from tcbo_pyomo.records.results_file import read_results

    single = (value, move, unit, at, key, time)
    if csv is not None and (any(given is not None for given in single) or replicate):
        raise BadInput("--csv FILE has the moves, values, units and keys; leave out VALUE and the other options")
    if csv is None and value is None:
        raise BadInput("give the measurement, `tcbo tell CAMPAIGN.db VALUE`, or a file of them with --csv")
    place = place_of(at)
    if csv is None:
        number, given = _measurement(value, unit)
        opened = open_file(campaign, problem)
        results = [Result(move, number, place, given, replicate, key, yes_really, time)]
    else:
        opened = open_file(campaign, problem)
        results = [replace(r, confirm=yes_really) for r in read_results(csv, opened.problem, opened.history)]
    receipts = opened.tell_many(results)
    for receipt in receipts:
        _doubt(opened, receipt)
    confirm(*((r, f"move {r.number}, {opened.problem.output} = {r.value!r}") for r in receipts))
    # What was recorded stays recorded: a model that is a user's own and cannot be asked here warns of nothing.
    with suppress(TcboError):
        for text in contradictions(opened.knowledge, {receipt.number for receipt in receipts if receipt.new}):
            warn(text)


def _doubt(opened: DurableCampaign, receipt: Receipt) -> None:
    """Say that a result is unlikely, what was expected, and what to do."""
    if receipt.surprise is None or receipt.surprise.confirmed:
        return
    again = f"tcbo tell {opened.path} {receipt.value!r} --move {receipt.number} --yes-really"
    warn(
        f"move {receipt.number}: {opened.problem.output} = {receipt.value!r} is recorded, but unlikely under the "
        f"model: {receipt.surprise.in_words(opened.problem.output_unit)}; if it is a slip, `tcbo undo {opened.path} "
        f"--move {receipt.number}`; if it is right, `{again}`"
    )


def _measurement(text: str | None, unit: str | None) -> tuple[float, str | None]:
    """The number that was typed, and its unit as far as one was given; what a file would refuse is refused here."""
    from tcbo_pyomo.foundation.cell_text import has_decimal_comma
    from tcbo_pyomo.records.results import quantity

    number, typed = quantity(text or "")
    if not math.isfinite(number):
        comma = has_decimal_comma((text or "").split(" ")[0])
        example = "write a decimal point, not a comma" if comma else "such as 0.31, with or without a unit"
        raise BadInput(f"measurement {text!r} is not a finite number; {example}; nothing was recorded")
    if typed and unit is not None and typed != unit:
        raise BadInput(f"measurement {text!r} has a unit, and --unit {unit!r} names another; nothing was recorded")
    return number, typed or unit
