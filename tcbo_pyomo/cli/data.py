"""`tcbo data CAMPAIGN.db`: past experiments that teach the model; list, add or remove them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._campaign_file import AsJson, CampaignFile, Key, OwnProblem, open_file
from tcbo_pyomo.cli._given_table import doubt_rows, notes_of
from tcbo_pyomo.cli._output import say
from tcbo_pyomo.errors import BadInput, suggestion

if TYPE_CHECKING:
    from tcbo_pyomo.records import DurableCampaign

PANEL, POSITION = "A campaign on a real plant", 21

ACTIONS = ("list", "add", "remove")


def data(
    campaign: CampaignFile,
    action: Annotated[str, typer.Argument(metavar="[add|remove]", help="What to do; without it they are listed.")] = "list",
    what: Annotated[
        str | None,
        typer.Argument(metavar="[FILE.csv|NUMBER]", help="The table to add or to remove; - for standard input."),
    ] = None,
    row: Annotated[list[int] | None, typer.Option("--row", min=1, help="Remove this row only; can be repeated.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Add rows again that are already there.")] = False,
    yes_really: Annotated[bool, typer.Option("--yes-really", help="The rows are right, even if they look unlikely.")] = False,
    json: AsJson = False,
    key: Key = None,
    problem: OwnProblem = None,
) -> None:
    """List, add or remove past experiments. They teach the model and do not count as moves."""
    if action not in ACTIONS:
        raise BadInput(f"'{action}' is nothing to do with data; {suggestion(action, ACTIONS)}")
    if (action == "list") != (what is None):
        wanted = {"add": "the CSV file", "remove": "the number or the file of the table"}
        raise BadInput(f"tcbo data {campaign} {action}: say {wanted[action]}" if what is None else "list takes no table")
    if action != "remove" and row:
        raise BadInput("--row names rows to remove; use it with remove")
    opened = open_file(campaign, problem)
    if action == "add":
        added = opened.add_data(Path(str(what)), again=again, confirm=yes_really, key=key)
        doubt_rows(opened, added)
        number = len(added.batch.results)
        say(
            f"{'added' if added.new else 'added, as before'}: data {added.batch.number}, {number} past results from "
            f"{added.batch.source}{notes_of(added)}; they teach the model and do not count as moves"
        )
    elif action == "remove":
        say(f"removed: {opened.remove_data(str(what), row or None, key)}")
    else:
        typer.echo(_as_json(opened) if json else _listed(opened), nl=False)


def _listed(opened: DurableCampaign) -> str:
    """A line per table, and one per row."""
    from tcbo_pyomo.explain.as_text import point_text
    from tcbo_pyomo.foundation.wording import counted, uncertain, with_unit

    problem, lines = opened.problem, []
    for batch in opened.past.batches:
        lines.append(f"data {batch.number}: {counted(len(batch.results), 'past result')} from {batch.source}")
        for result in batch.results:
            place = point_text(dict(zip(batch.names, result.at, strict=True)), problem.input_axes)
            unit = problem.output_unit
            value = with_unit(result.value, unit) if result.sd is None else uncertain(result.value, result.sd, unit)
            doubt = "" if result.surprise is None else f" ({result.surprise.in_words(unit)})"
            lines.append(f"  row {result.row}: {place}; {problem.output} = {value}{doubt}")
    return "\n".join(lines or ["no past experiments; add a table with `add FILE.csv`"]) + "\n"


def _as_json(opened: DurableCampaign) -> str:
    import json

    return json.dumps([batch.to_dict() for batch in opened.past.batches], indent=1) + "\n"
