"""`tcbo figures STUDY_DIR`: draw the tables of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcbo_pyomo.cli._output import FILES_ARE_THERE, say

PANEL, POSITION = "Studies", 41


def figures(
    folder: Annotated[Path, typer.Argument(metavar="STUDY_DIR", help="The folder that a study wrote its tables to.")],
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to write; STUDY_DIR/figures when not given.")
    ] = None,
    problem: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE.py", help="Your own problem file of this study, to draw its landscape; may repeat."),
    ] = None,
) -> None:
    """Write the figures of a study as PNG and SVG; the tables are only read."""
    from tcbo_pyomo.studies.figures import write_figures

    say("\n".join(map(str, write_figures(folder, output, problem or ()))), advice=FILES_ARE_THERE)
