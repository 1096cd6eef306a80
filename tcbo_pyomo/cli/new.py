"""`tcbo new NAME`: a problem to start from, the files of templates/ copied into a folder under a name of the user's."""

from __future__ import annotations

import importlib.util
import keyword
import re
import shutil
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo.cli._output import FILES_ARE_THERE, say
from tcbo_pyomo.errors import BadInput, DiskError

if TYPE_CHECKING:
    from tcbo_pyomo.surrogate.goal import Goal
    from tcbo_pyomo.surrogate.plain_prior import PlainPrior

PANEL, POSITION = "Problems and simulations", 11

PLACEHOLDER = "my_reactor"
FILES = (f"{PLACEHOLDER}.py", "settings.yaml", "run.py")


def new(
    name: Annotated[str, typer.Argument(help="Name of the problem and its new folder, such as my_reactor.")],
    output_range: Annotated[
        tuple[float, float] | None, typer.Option("--range", metavar="LOW HIGH", help="Range in which you expect results.")
    ] = None,
    measurement_sd: Annotated[
        str | None, typer.Option(metavar="SD", help="Standard deviation of a repeated measurement, or unknown.")
    ] = None,
    changes_within: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DISTANCE", help="Change of an input that changes the output markedly."),
    ] = None,
    positive: Annotated[bool, typer.Option("--positive", help="The output is positive and spans orders of magnitude.")] = False,
    goal: Annotated[
        str | None, typer.Option(metavar="GOAL", help="maximise, minimise, or the target value of the output.")
    ] = None,
) -> None:
    """Write a problem file, settings and a script to start from; they run unchanged.

    In a terminal it asks what you know about the output, unless options say so.
    """
    from tcbo_pyomo.cli._plain_questions import answers_from

    _check_name(name)
    prior, aim = answers_from(output_range, measurement_sd, changes_within, positive, goal)
    files = write_template(name, prior=prior, goal=aim)
    following = f"next: tcbo check {name}/{name}.py; tcbo run {name}/{name}.py; python {name}/run.py"
    say("\n".join([*(f"wrote {file}" for file in files), following]), advice=FILES_ARE_THERE)


def write_template(
    name: str, parent: Path | None = None, prior: PlainPrior | None = None, goal: Goal | None = None
) -> list[Path]:
    """Write a problem file, settings and a script that run unchanged into the new folder `parent / name`.

    Parameters
    ----------
    name
        Of the problem and the folder; a Python identifier that no installed module has.
    parent
        The parent of the new folder. Default: the current folder.
    prior
        What is known about the output. Default: the template's answers.
    goal
        The goal of the campaign. Default: the largest output.

    Returns
    -------
    list of Path
        The files written.
    """
    _check_name(name)
    folder = (parent or Path()) / name
    try:
        folder.mkdir()
    except FileExistsError:
        raise BadInput(f"'{folder}' already exists; nothing was written; choose another name or remove it") from None
    except OSError as error:
        raise DiskError(f"folder '{folder}' cannot be created: {error.strerror}; nothing was written") from None
    try:
        return [_copy(file, folder / file.replace(PLACEHOLDER, name), name, prior, goal) for file in FILES]
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise DiskError(f"folder '{folder}' cannot be written: {error.strerror}; nothing was kept") from None


def _check_name(name: str) -> None:
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise BadInput(f"name {name!r} must be letters, digits and underscores and not start with a digit, such as my_reactor")
    # run.py imports the problem by its name, so the name must not hide a module. A mere folder has no origin.
    found = importlib.util.find_spec(name)
    if name == "run" or (found is not None and found.origin is not None):
        raise BadInput(f"name '{name}' is a Python module, which the new file would hide; choose another name")


def _copy(file: str, target: Path, name: str, prior: PlainPrior | None, goal: Goal | None) -> Path:
    text = resources.files("tcbo_pyomo.cli.templates").joinpath(file).read_text(encoding="utf-8")
    answers: dict[str, Any] = {} if goal is None else {"GOAL: Any": goal.data}
    if prior is not None:
        answers |= {
            "MEASUREMENT_SD": prior.measurement_sd,
            "RANGE": prior.range,
            "CHANGES_WITHIN: dict[str, float]": prior.changes_within,
            "POSITIVE": prior.positive,
        }
    for left, value in answers.items():
        shown = f'"{value}"' if isinstance(value, str) else repr(value).replace("'", '"')
        text = re.sub(rf"^{re.escape(left)} = .*$", f"{left} = {shown}", text, flags=re.MULTILINE)
    target.write_text(text.replace(PLACEHOLDER, name), encoding="utf-8")
    return target
