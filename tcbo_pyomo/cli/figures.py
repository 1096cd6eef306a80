"""`tcbo figures STUDY_DIR`: draw the tables of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcbo_pyomo.cli._options import refuse_dash
from tcbo_pyomo.cli._output import FILES_ARE_THERE, say

PANEL, POSITION = "Studies", 41


def figures(
    folder: Annotated[Path, typer.Argument(metavar="STUDY_DIR", help="The folder with the tables of a study.")],
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder. Default: STUDY_DIR/figures.", callback=refuse_dash)
    ] = None,
    problem: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE.py", help="Your own problem file of this study, to draw its landscape; repeatable."),
    ] = None,
) -> None:
    """Draw the tables of a study as PNG and SVG."""
    from tcbo_pyomo.studies.figures import write_figures

    say("\n".join(map(str, write_figures(folder, output, problem or ()))), advice=FILES_ARE_THERE)
