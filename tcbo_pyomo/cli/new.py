"""`tcbo new NAME`: a problem to start from, the files of templates/ copied into a folder under a name of the user's."""

from __future__ import annotations

import importlib.util
import keyword
import shutil
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from tcbo_pyomo.errors import BadInput, DiskError

PANEL, POSITION = "Problems and simulations", 11

PLACEHOLDER = "my_reactor"
FILES = (f"{PLACEHOLDER}.py", "settings.yaml", "run.py")


def new(
    name: Annotated[str, typer.Argument(help="Name of the problem and of the folder to make, such as my_reactor.")],
) -> None:
    """Write a problem file, settings and a script to start from; they run as they are."""
    for file in write_template(name):
        typer.echo(f"wrote {file}")
    typer.echo(f"next: tcbo check {name}/{name}.py; tcbo run {name}/{name}.py; python {name}/run.py")


def write_template(name: str, parent: Path | None = None) -> list[Path]:
    """Write a problem file, settings and a script that run as they are into the new folder `parent / name`.

    Parameters
    ----------
    name
        Of the problem and the folder; a Python identifier that no installed module has.
    parent
        Where the folder is made; the current folder when not given.

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
        raise BadInput(f"'{folder}' exists already; nothing was written, choose another name or remove it") from None
    except OSError as error:
        raise DiskError(f"folder '{folder}' cannot be made: {error.strerror}; nothing was written") from None
    try:
        return [_copy(file, folder / file.replace(PLACEHOLDER, name), name) for file in FILES]
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise DiskError(f"folder '{folder}' cannot be filled: {error.strerror}; nothing was kept") from None


def _check_name(name: str) -> None:
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise BadInput(f"name {name!r} must be letters, digits and underscores, no digit first, such as my_reactor")
    # run.py imports the problem by its name, so the name must not hide a module. A mere folder has no origin.
    found = importlib.util.find_spec(name)
    if name == "run" or (found is not None and found.origin is not None):
        raise BadInput(f"name '{name}' is that of a Python module, which the new file would hide; choose another")


def _copy(file: str, target: Path, name: str) -> Path:
    text = resources.files("tcbo_pyomo.cli.templates").joinpath(file).read_text(encoding="utf-8")
    target.write_text(text.replace(PLACEHOLDER, name), encoding="utf-8")
    return target
