"""`tcbo new NAME`: a problem to start from."""

from __future__ import annotations

from typing import Annotated

import typer


def new(
    name: Annotated[str, typer.Argument(help="Name of the problem and of the folder to make, such as my_reactor.")],
) -> None:
    """Write a problem file, settings and a script to start from; they run as they are."""
    from tcbo_pyomo.cli.template import write_template

    for file in write_template(name):
        typer.echo(f"wrote {file}")
    typer.echo(f"next: tcbo check {name}/{name}.py; tcbo run {name}/{name}.py; python {name}/run.py")
