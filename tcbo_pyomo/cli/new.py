"""`tcbo new NAME`: a problem to start from, the files of templates/ copied into a folder under a name of the user's.

With `--data` it is the plant of a table: its inputs, their values and units, the output and the scatter are written in.
"""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
import shutil
import sys
from importlib import resources
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo.cli._options import refuse_dash
from tcbo_pyomo.cli._output import FILES_ARE_THERE, say
from tcbo_pyomo.errors import BadInput, DiskError

if TYPE_CHECKING:
    from tcbo_pyomo.cli._plant_from_table import PlantTable
    from tcbo_pyomo.surrogate.goal import Goal
    from tcbo_pyomo.surrogate.plain_prior import PlainPrior

PANEL, POSITION = "Problems and simulations", 11

PLACEHOLDER = "my_reactor"
FILES = (f"{PLACEHOLDER}.py", "settings.yaml", "run.py")
TABLE_PLACEHOLDER = "my_plant"


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
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Past experiments: inputs, values, units and scatter are taken from them.",
            callback=refuse_dash,
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of --data with the results. Default: the last with numbers.")
    ] = None,
) -> None:
    """Write a problem file to start from: an example that runs unchanged, or your plant as a table shows it.

    In a terminal it asks what you know about the output, unless options say so.
    """
    from tcbo_pyomo.cli._plain_questions import answers_from

    _check_name(name)
    if data is not None:
        from tcbo_pyomo.cli._plant_from_table import plant_table

        table = plant_table(data, output)
        given = output_range, measurement_sd, changes_within, positive, goal
        prior, aim = answers_from(*given, _known(table, output_range), tuple(table.axes))
        (file,) = write_plant(name, table, prior, aim)
        following = (
            f"next: open {file} and change the moves and the start to yours; tcbo check {file}; "
            f"tcbo start rig.db {file} --seed 1 --data {quote(str(data))}"
        )
        say(f"{table.in_words()}\nwrote {file}\n{following}", advice=FILES_ARE_THERE)
        return
    if output is not None:
        raise BadInput("--output names a column of the table of --data; give both")
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
    texts = {file: _text(file, PLACEHOLDER, name, _answers(prior, goal)) for file in FILES}
    return _write(name, parent, {file.replace(PLACEHOLDER, name): text for file, text in texts.items()})


def write_plant(
    name: str, table: PlantTable, prior: PlainPrior, goal: Goal | None = None, parent: Path | None = None
) -> list[Path]:
    """Write the problem file of the plant that a table shows into the new folder `parent / name`."""
    answers = {left.split(":")[0]: value for left, value in _answers(prior, goal).items()} | {
        "AXES": {name: [_short(value) for value in values] for name, values in table.axes.items()},
        "UNITS": table.units,
        "MOVES": {name: [-1, 0, 1] for name in table.axes},
        "START": {name: _short(value) for name, value in table.start.items()},
        "OUTPUT": table.output,
        "OUTPUT_UNIT": table.output_unit,
    }
    text = _text(f"{TABLE_PLACEHOLDER}.py", TABLE_PLACEHOLDER, name, answers)
    plain = table.name if re.fullmatch(r"[\w.-]+", table.name) else "past.csv"
    return _write(name, parent, {f"{name}.py": text.replace("PAST_CSV", plain)})


def _write(name: str, parent: Path | None, texts: dict[str, str]) -> list[Path]:
    """Write files into the new folder `parent / name`: all, or none."""
    _check_name(name)
    folder = (parent or Path()) / name
    try:
        folder.mkdir()
    except FileExistsError:
        raise BadInput(f"'{folder}' already exists; nothing was written; choose another name or remove it") from None
    except OSError as error:
        raise DiskError(f"folder '{folder}' cannot be created: {error.strerror}; nothing was written") from None
    try:
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        return [folder / file for file in texts]
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


def _known(table: PlantTable, ends: tuple[float, float] | None) -> PlainPrior:
    """What a table says of its output: the scatter, and in a terminal a range to begin with."""
    from tcbo_pyomo.surrogate.plain_prior import PlainPrior

    if ends is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput(
            f"--range LOW HIGH is missing: between which values can {table.output} lie? The table has {table.lowest:g} to "
            f"{table.highest:g}; too wide is better than too narrow"
        )
    margin = (table.highest - table.lowest) / 2 or 1.0
    low = table.lowest - margin
    low = 0.0 if low < 0 <= table.lowest else low
    sd = None if table.scatter is None else float(f"{table.scatter:.2g}")
    return PlainPrior(ends or (low, table.highest + margin), sd)


def _answers(prior: PlainPrior | None, goal: Goal | None) -> dict[str, Any]:
    """The answers, by the left side of their lines in a template."""
    answers: dict[str, Any] = {} if goal is None else {"GOAL: Any": goal.data}
    if prior is None:
        return answers
    return answers | {
        "MEASUREMENT_SD": prior.measurement_sd,
        "RANGE": prior.range,
        "CHANGES_WITHIN: dict[str, float]": prior.changes_within,
        "POSITIVE": prior.positive,
    }


def _text(file: str, placeholder: str, name: str, answers: dict[str, Any]) -> str:
    """A template with the answers and the name of the problem in it."""
    text = resources.files("tcbo_pyomo.cli.templates").joinpath(file).read_text(encoding="utf-8")
    text = text.replace(placeholder, name)
    for left, value in answers.items():
        # A backslash in an answer is one in the file, not an escape of the pattern.
        line = f"{left} = {_literal(value)}".replace("\\", "\\\\")
        text = re.sub(rf"^{re.escape(left)} = .*$", line, text, flags=re.MULTILINE)
    return text


def _short(value: float) -> float:
    """40 for 40.0."""
    return int(value) if value.is_integer() else value


def _literal(value: Any) -> str:
    """A value as Python, strings in double quotes, a table of lists with a line for each."""
    if isinstance(value, dict) and any(isinstance(item, list) for item in value.values()):
        return "{\n" + "".join(f"    {_literal(key)}: {_literal(item)},\n" for key, item in value.items()) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
