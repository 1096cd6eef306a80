"""The command line: `tcbo --help` lists the commands; those with a file of their own stand in commands/.

Results go to standard output, progress and errors to standard error. An error is one line, and the exit code
says what kind it is: 0 done, 1 audit found violations or runs of a study failed, 2 bad input, 3 damaged file, 4 solver
failed, 5 busy, 6 disk, 7 proven infeasible, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer

from tcbo_pyomo._version import __version__
from tcbo_pyomo.cli import audit, campaign, explain, figures, report, study, whatif
from tcbo_pyomo.cli.check import check
from tcbo_pyomo.cli.new import new
from tcbo_pyomo.cli.run import run
from tcbo_pyomo.cli.tables import new_table, print_table
from tcbo_pyomo.errors import TcboError

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
    # Python would search all that is loaded for garbage before it ends, which takes longer than many commands.
    gc.freeze()
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
def problems() -> None:
    """List the problems that come with the package."""
    from importlib import import_module

    from tcbo_pyomo.library import load_problem, problem_names

    table = new_table("problem", "description", right=("space", "moves per episode", "episodes"))
    for name in problem_names():
        built = load_problem(name)
        sizes = (built.size, str(built.horizon), str(built.episodes))
        table.add_row(name, import_module(f"tcbo_pyomo.library.{name}").DESCRIPTION, *sizes)
    print_table(table)


@app.command()
def settings() -> None:
    """Print all settings with their defaults, as a commented file to start from."""
    from tcbo_pyomo.foundation.settings_file import settings_template

    typer.echo(settings_template(), nl=False)


@app.command()
def solvers() -> None:
    """Try every solver on a small model, and say how to get what is missing."""
    from tcbo_pyomo.solvers.probes import probe_solvers

    table = new_table("solver", "role", "works", "what was found", "how to get it")
    for found in probe_solvers():
        works = "yes" if found.works else "no"
        table.add_row(found.name, found.role, works, found.detail, "" if found.works else found.how_to_get)
    print_table(table)


app.command()(run)
app.command()(new)
app.command()(check)
for commands in (campaign, audit, report, explain, whatif, study, figures):
    commands.register(app)


def _usage_message(error: Exception) -> str:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(message.split()).rstrip(".")


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code
