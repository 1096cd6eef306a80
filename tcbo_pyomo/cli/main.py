"""The command line: `tcbo --help` lists the commands, each a file of this folder with a function of the same name.

A file may also say, in constants, the `PANEL` of the help and the `POSITION` in it, and which `CONTEXT`
settings of Typer it needs. What commands share is in files that begin with an underscore.

Results go to standard output, progress and errors to standard error. An error is one line, and the exit code
says what kind it is: 0 done, 1 audit found violations or runs of a study failed, 2 bad input, 3 damaged file, 4 solver
failed, 5 busy, 6 disk or standard output, 7 proven infeasible, 70 a fault of this program, 130 interrupted.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

# Before anything imports numpy: one BLAS thread (see `foundation/blas_threads.py`), unless the user has chosen.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer
from typer.core import TyperGroup

from tcbo_pyomo._version import __version__
from tcbo_pyomo.cli._messages import in_one_line
from tcbo_pyomo.cli._output import drop_output, keep_standard_streams
from tcbo_pyomo.cli._user_prints import user_prints_to_stderr
from tcbo_pyomo.errors import BadInput, DiskError, TcboError, suggestion
from tcbo_pyomo.foundation.registry import files_of
from tcbo_pyomo.foundation.signals import ended_like_ctrl_c
from tcbo_pyomo.foundation.user_lines import raised_at, with_place

INTERRUPTED, OUR_FAULT = 130, 70
SHOW_TRACEBACK = "TCBO_TRACEBACK"
"""Environment variable: any text in it adds the traceback to errors that nobody raised on purpose."""
WRONG_NAMES = (errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EINVAL, errno.ELOOP)
"""What a file system says about a name that was typed; anything else is said about the disk."""
LAST = 1000
"""The position in the help of a command that names none."""
# The common class of usage errors; some versions of Typer take it from Click, some carry their own copy.
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]


class CommandFiles(TyperGroup):
    """Finds commands by the names of files, and imports the file of a command when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands in the order of the help."""
        return sorted(_command_names(), key=lambda name: (getattr(_file_of(name), "POSITION", LAST), name))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of one file."""
        if cmd_name not in _command_names():
            raise BadInput(f"unknown command '{cmd_name}'; {suggestion(cmd_name, _command_names())}")
        file = _file_of(cmd_name)
        alone = typer.Typer(add_completion=False)
        panel = getattr(file, "PANEL", "Other commands")
        alone.command(cmd_name, context_settings=getattr(file, "CONTEXT", None), rich_help_panel=panel)(
            getattr(file, cmd_name)
        )
        return typer.main.get_command(alone)


app = typer.Typer(
    cls=CommandFiles,
    help="Bayesian optimisation of experiments that cannot jump, planned over the whole horizon.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with its code; every error is one line on standard error."""
    keep_standard_streams()
    try:
        with ended_like_ctrl_c(), user_prints_to_stderr():
            code = app(arguments, prog_name="tcbo", standalone_mode=False)
            sys.stdout.flush()
    except TcboError as error:
        code = _complain(f"error: {with_place(error)}", error.exit_code)
    except USAGE_ERROR as error:
        code = _complain(f"error: {_usage_message(error)} (see tcbo --help)", 2)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        drop_output()
        code = 1
    except SystemExit as error:
        # Typer's own way out; in the user's code it would end a campaign as if all were well.
        code = _unforeseen(error) if raised_at(error) else error.code
    except BaseException as error:  # Whatever the user's code may raise.
        code = _unforeseen(error)
    if code == INTERRUPTED:
        _complain("interrupted", INTERRUPTED)
    # Python would search all that is loaded for garbage before it ends, which takes longer than many commands.
    gc.freeze()
    sys.exit(code if isinstance(code, int) else 0)


@app.callback(invoke_without_command=True)
def _general(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"tcbo_pyomo {__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _command_names() -> list[str]:
    """Every file of this folder but this one."""
    return [name for name in files_of(__package__) if f"{__package__}.{name}" != __name__]


def _file_of(name: str) -> Any:
    return import_module(f"{__package__}.{name}")


def _usage_message(error: Exception) -> str:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(message.split()).rstrip(".")


def _unforeseen(error: BaseException) -> int:
    """An error that nobody raised on purpose: of the user's own code, which is bad input, or else a fault of ours."""
    if os.environ.get(SHOW_TRACEBACK):
        traceback.print_exception(error)
    message = f"{type(error).__name__}: {error}"
    if where := raised_at(error):
        return _complain(f"error: {where}: {message}", 2)
    if isinstance(error, OSError):
        # Of a command that only reads: the others say what they recorded.
        drop_output()
        where = error.filename or "standard output"
        code = 2 if error.filename and error.errno in WRONG_NAMES else DiskError.exit_code
        return _complain(f"error: {where}: cannot be read or written ({error.strerror})", code)
    advice = f"please report it; {SHOW_TRACEBACK}=1 shows where it happened"
    return _complain(f"error: a fault of tcbo_pyomo {__version__} ({message}); {advice}", OUR_FAULT)


def _complain(message: str, code: int) -> int:
    with suppress(OSError):
        print(in_one_line(message), file=sys.stderr or io.StringIO())
    return code
