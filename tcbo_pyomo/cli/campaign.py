"""Commands of a real campaign, kept in one file: start, ask, tell, arrive, skip, undo, status, best, export."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.records import DurableCampaign, Receipt

CampaignFile = Annotated[Path, typer.Argument(metavar="CAMPAIGN.db", help="The campaign file.")]
OwnProblem = Annotated[
    Path | None, typer.Option("--problem", metavar="FILE.py", help="Your problem file, if it moved or was edited.")
]
MoveNumber = Annotated[int | None, typer.Option("--move", min=1, help="Number of the move; else the one waited for.")]
Place = Annotated[
    list[str] | None, typer.Option("--at", metavar="NAME=VALUE", help="Where the plant really was; one per coordinate.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    # A negative result such as -0.5 is a value, not an option.
    app.command(context_settings={"ignore_unknown_options": True})(tell)
    for command in (start, ask, arrive, skip, undo, status, best, export):
        app.command()(command)


def start(
    campaign: CampaignFile,
    problem: Annotated[str, typer.Argument(help="A name from `tcbo problems`, or the path of a .py file.")],
    settings: Annotated[Path | None, typer.Option(metavar="FILE.yaml", help="A settings file.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any setting; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Every random choice follows from it.")] = 1,
) -> None:
    """Start a campaign on a real plant: make its file."""
    from tcbo_pyomo.foundation.settings_file import parse_assignment, read_settings
    from tcbo_pyomo.library import load_problem
    from tcbo_pyomo.records import start_campaign
    from tcbo_pyomo.settings import settings_from

    sys.path.append(os.getcwd())
    layers = [read_settings(settings)] if settings else []
    layers += [parse_assignment(text) for text in set_ or []]
    chosen = settings_from(dict(load_problem(problem, None, seed).settings), *layers)
    started = start_campaign(campaign, problem, chosen, seed)
    moves = started.problem.episodes * started.problem.horizon
    typer.echo(f"started {campaign}: {started.problem.name}, {moves} moves; next: tcbo ask {campaign}")


def ask(
    campaign: CampaignFile,
    episode: Annotated[bool, typer.Option("--episode", help="The whole rest of the episode.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print as CSV, to be filled in and told.")] = False,
    json: AsJson = False,
    new: Annotated[
        bool, typer.Option("--new", help="What is waited for was made; its result comes later. Plan the next move.")
    ] = False,
    problem: OwnProblem = None,
) -> None:
    """The next move; the same one again until its result is told."""
    from tcbo_pyomo.cli.campaign_output import moves_as_csv, moves_as_json, moves_as_text

    if csv and json:
        raise BadInput("--csv and --json: choose one of the two")
    opened = _open(campaign, problem)
    moves = opened.ask_episode(new) if episode else [opened.ask(new)]
    show = moves_as_csv if csv else moves_as_json if json else moves_as_text
    typer.echo(show(opened, moves), nl=False)


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
    from tcbo_pyomo.records.results_file import read_results

    single = (value, move, unit, at, key)
    if csv is not None and (any(given is not None for given in single) or replicate):
        raise BadInput("--csv FILE holds moves, values, units and keys itself; leave out VALUE and the other options")
    if csv is None and value is None:
        raise BadInput("give the measurement, `tcbo tell CAMPAIGN.db VALUE`, or a file of them with --csv")
    number, place = _measurement(value), _place(at)
    opened = _open(campaign, problem)
    if csv is None:
        receipts = [opened.tell(move, number, place, unit=unit, replicate=replicate, key=key)]
    else:
        receipts = opened.tell_many(read_results(csv, opened.problem, opened.history))
    for receipt in receipts:
        again = "" if receipt.new else ", as before"
        typer.echo(f"recorded{again}: move {receipt.number}, {opened.problem.output} = {receipt.value!r}")
        _warn(receipt)


def arrive(campaign: CampaignFile, move: MoveNumber = None, at: Place = None, problem: OwnProblem = None) -> None:
    """A move was made, its result comes later."""
    opened = _open(campaign, problem)
    receipt = opened.arrive(move, _place(at))
    typer.echo(f"recorded: move {receipt.number} was made")
    _warn(receipt)


def skip(
    campaign: CampaignFile,
    move: MoveNumber = None,
    at: Place = None,
    episode: Annotated[bool, typer.Option("--episode", help="Give up the rest of the episode.")] = False,
    problem: OwnProblem = None,
) -> None:
    """A move could not be made, or its result is lost; --at where the plant is if it is not where it was."""
    if episode and (move is not None or at):
        raise BadInput("--episode gives up all moves that are left in it; leave out --move and --at")
    opened = _open(campaign, problem)
    if episode:
        typer.echo(f"recorded: the episode ends {opened.give_up()} moves early; next: tcbo ask {campaign}")
        return
    receipt = opened.skip(move, _place(at))
    typer.echo(f"recorded: move {receipt.number} gives no result; next: tcbo ask {campaign}")
    _warn(receipt)


def undo(campaign: CampaignFile, move: MoveNumber = None, problem: OwnProblem = None) -> None:
    """Take back the last result, arrival or skip; it stays in the file as a recorded correction."""
    typer.echo(f"taken back: {_open(campaign, problem).undo(move)}")


def status(campaign: CampaignFile, json: AsJson = False, problem: OwnProblem = None) -> None:
    """Where the campaign stands."""
    from tcbo_pyomo.cli.campaign_output import status_as_text, to_json

    found = _open(campaign, problem).status()
    typer.echo(to_json(found) if json else status_as_text(found), nl=False)


def best(campaign: CampaignFile, json: AsJson = False, problem: OwnProblem = None) -> None:
    """The recommendation with its uncertainty."""
    from tcbo_pyomo.cli.campaign_output import best_as_text, to_json

    opened = _open(campaign, problem)
    found = opened.best()
    typer.echo(to_json(found) if json else best_as_text(opened.problem, found), nl=False)


def export(
    campaign: CampaignFile,
    output: Annotated[Path, typer.Argument(metavar="FILE.csv", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    problem: OwnProblem = None,
) -> None:
    """Write all moves and measurements to a CSV file."""
    rows = _open(campaign, problem).export(output, force)
    typer.echo(f"wrote {rows} rows to {output}")


def _open(campaign: Path, problem: Path | None) -> DurableCampaign:
    from tcbo_pyomo.records import DurableCampaign, open_campaign

    # Settings may name a class of the user's, "my_module:MyRule", that stands in the current folder.
    sys.path.append(os.getcwd())
    # Broken limits are printed by the command itself.
    logging.getLogger("tcbo_pyomo.records").addHandler(logging.NullHandler())
    opened = open_campaign(campaign, problem)
    if not isinstance(opened, DurableCampaign):
        raise BadInput(f"{campaign}: is no campaign file, which alone keeps what is asked and told; see `tcbo start`")
    return opened


def _measurement(text: str | None) -> float:
    """The number that was typed; what a file would refuse is refused here."""
    from tcbo_pyomo.foundation.csv_table import finite_number

    try:
        return 0.0 if text is None else finite_number(text, "measurement")
    except BadInput:
        raise BadInput(f"measurement {text!r} is not a finite number, such as 0.31; nothing was recorded") from None


def _place(at: list[str] | None) -> dict[str, Any] | None:
    if not at:
        return None
    place: dict[str, Any] = {}
    for text in at:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadInput(f"--at {text!r}: write name=value, as in ratio=0.3 or 'time=5 min'")
        if name.strip() in place:
            raise BadInput(f"--at: coordinate '{name.strip()}' is given twice")
        place[name.strip()] = value.strip()
    return place


def _warn(receipt: Receipt) -> None:
    for text in receipt.violations:
        typer.echo(f"warning: move {receipt.number} broke a declared limit, which is recorded: {text}", err=True)
