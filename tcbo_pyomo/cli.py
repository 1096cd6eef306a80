"""The command line: `tcbo run`, `tcbo problems`, `tcbo settings`, `tcbo solvers`, `tcbo new`, `tcbo check`.

Results go to standard output, progress and errors to standard error. An error is one line, and the exit code
says what kind it is: 0 done, 2 bad input, 3 damaged file, 4 solver failed, 6 disk, 7 proven infeasible,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo._version import __version__
from tcbo_pyomo.commands.check import check
from tcbo_pyomo.commands.new import new
from tcbo_pyomo.commands.tables import new_table, print_table
from tcbo_pyomo.errors import TcboError

if TYPE_CHECKING:
    from rich.table import Table

    from tcbo_pyomo.problem import Problem
    from tcbo_pyomo.settings import Settings
    from tcbo_pyomo.simulation import CampaignResult, EpisodeSummary

INTERRUPTED = 130
# The common class of usage errors; some versions of Typer take it from Click, some carry their own copy.
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    help="Bayesian optimisation of experiments that cannot jump, planned over the whole horizon.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with its code; every error is one line on standard error."""
    try:
        code = app(arguments, prog_name="tcbo", standalone_mode=False)
        sys.stdout.flush()
    except TcboError as error:
        code = _complain(f"error: {error}", error.exit_code)
    except USAGE_ERROR as error:
        code = _complain(f"error: {_usage_message(error)} (see tcbo --help)", 2)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing more can be written, not even at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    if code == INTERRUPTED:
        _complain("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


@app.callback(invoke_without_command=True)
def _general(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(f"tcbo_pyomo {__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def run(
    problem: Annotated[str, typer.Argument(help="A name from `tcbo problems`, or the path of a .py file.")],
    method: Annotated[str | None, typer.Option(help="mdp_bo, or the name of a rival.")] = None,
    feedback: Annotated[str | None, typer.Option(help="immediate, episodic or delayed.")] = None,
    delay: Annotated[int | None, typer.Option(min=0, help="Moves until a result arrives.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Every random choice follows from it.")] = 1,
    episodes: Annotated[int | None, typer.Option(min=1, help="Number of episodes.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any setting; may be repeated.")
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(help="Candidate rule: credible_band, thompson_sampling or upper_confidence.")
    ] = None,
    settings: Annotated[Path | None, typer.Option(metavar="FILE.yaml", help="A settings file.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the run into a folder.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that the folder holds.")] = False,
) -> None:
    """Simulate a campaign and show what it recommends after each episode."""
    from tcbo_pyomo.problems import load_problem
    from tcbo_pyomo.report.run_folder import prepare_folder, write_run
    from tcbo_pyomo.settings import settings_from
    from tcbo_pyomo.settings_file import parse_assignment, read_settings

    # Settings may name a class of the user's, "my_module:MyRule", that stands in the current folder.
    sys.path.append(os.getcwd())
    options = {"method": method, "episodes": episodes}
    layers = [read_settings(settings)] if settings else []
    layers += [parse_assignment(text) for text in set_ or []]
    layers += [{key: value} for key, value in options.items() if value is not None]
    layers += [{"candidates": {"rule": candidates}}] if candidates is not None else []
    layers += [_feedback_layer(feedback, delay)]
    chosen_problem = load_problem(problem, feedback or _feedback_kind(layers), seed)
    chosen_settings = settings_from(dict(chosen_problem.settings), *layers)
    if output is not None:
        prepare_folder(output, force)
    result = _run_with_progress(chosen_problem, chosen_settings, seed)
    if output is not None:
        write_run(result, output)
    print_table(_episode_table(result.problem, result.episodes))
    where = f"; files are in {output}" if output is not None else ""
    typer.echo(f"recommendation: {_in_units(result.problem, result.episodes[-1])}{where}")


@app.command()
def problems() -> None:
    """List the problems that come with the package."""
    from importlib import import_module

    from tcbo_pyomo.problems import load_problem, problem_names

    table = new_table("problem", "description", right=("space", "moves per episode", "episodes"))
    for name in problem_names():
        built = load_problem(name)
        sizes = (built.size, str(built.horizon), str(built.episodes))
        table.add_row(name, import_module(f"tcbo_pyomo.problems.{name}").DESCRIPTION, *sizes)
    print_table(table)


@app.command()
def settings() -> None:
    """Print all settings with their defaults, as a commented file to start from."""
    from tcbo_pyomo.settings_file import settings_template

    typer.echo(settings_template(), nl=False)


@app.command()
def solvers() -> None:
    """Try every solver on a small model, and say how to get what is missing."""
    from tcbo_pyomo.solvers.probe import probe_solvers

    table = new_table("solver", "role", "works", "what was found", "how to get it")
    for found in probe_solvers():
        works = "yes" if found.works else "no"
        table.add_row(found.name, found.role, works, found.detail, "" if found.works else found.how_to_get)
    print_table(table)


app.command()(new)
app.command()(check)


def _feedback_layer(kind: str | None, delay: int | None) -> dict[str, Any]:
    given = {key: value for key, value in (("kind", kind), ("delay", delay)) if value is not None}
    return {"feedback": given} if given else {}


def _feedback_kind(layers: list[dict[str, Any]]) -> str | None:
    """The kind of feedback that the strongest layer names."""
    for layer in reversed(layers):
        feedback = layer.get("feedback")
        kind = feedback.get("kind") if isinstance(feedback, dict) else None
        if isinstance(kind, str):
            return kind
    return None


def _run_with_progress(problem: Problem, settings: Settings, seed: int) -> CampaignResult:
    """The campaign, with a progress bar where someone can see it; Ctrl-C still shows finished episodes."""
    from rich.console import Console
    from rich.progress import Progress

    from tcbo_pyomo.simulation import run_campaign

    console = Console(stderr=True)
    finished: list[EpisodeSummary] = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        moves = problem.horizon * (settings.episodes or problem.episodes)
        task = progress.add_task(problem.name, total=moves)

        def on_step(episode: int, _step: int) -> None:
            progress.update(task, advance=1, description=f"{problem.name}, episode {episode}")

        try:
            return run_campaign(problem, settings, seed, on_step, finished.append)
        except KeyboardInterrupt:
            progress.stop()
            print_table(_episode_table(problem, finished))
            raise


def _episode_table(problem: Problem, episodes: list[EpisodeSummary]) -> Table:
    """One row per episode: the recommendation in units, candidates left, regret where the truth is known."""
    known = problem.truth is not None
    titles = [coordinate.title for coordinate in problem.coordinates]
    judged = (("regret", "identified") if problem.finite else ("regret",)) if known else ()
    table = new_table(right=("episode", *titles, "candidates left" if problem.finite else "candidates", *judged))
    for summary in episodes:
        cells = [str(summary.episode), *(f"{value:g}" for value in summary.recommendation.values())]
        cells.append(str(summary.candidates))
        if known:
            cells += [f"{summary.regret:.4g}", "yes" if summary.identified else "no"][: len(judged)]
        table.add_row(*cells)
    return table


def _in_units(problem: Problem, summary: EpisodeSummary) -> str:
    units = {coordinate.name: coordinate.unit for coordinate in problem.coordinates}
    return ", ".join(f"{name} = {v:g} {units[name]}".rstrip() for name, v in summary.recommendation.items())


def _usage_message(error: Exception) -> str:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(message.split()).rstrip(".")


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code
