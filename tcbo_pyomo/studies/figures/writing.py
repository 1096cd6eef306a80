"""Write all figures of a study folder that apply, as PNG and SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tcbo_pyomo.errors import BadInput, DiskError
from tcbo_pyomo.foundation.atomic_file import write_atomically
from tcbo_pyomo.report.figures.canvas import saved
from tcbo_pyomo.studies.figures.drawings import drawings_of

DPI = 200
# A fixed salt: the same tables give the same bytes.
STYLE: Any = {"svg.hashsalt": "tcbo", "font.family": "sans-serif", "font.size": 9.5, "hatch.linewidth": 0.8}


def write_figures(folder: Path, output: Path | None = None, problem_files: Sequence[Path] = ()) -> list[Path]:
    """Draw what the tables of a study folder show.

    Parameters
    ----------
    folder
        The study folder; it must hold runs.csv, and may hold timings.csv and paths.csv.
    output
        Where the files go; `figures` in the study folder when not given.
    problem_files
        The user's own problem files of this study, to draw their landscapes. A file that only a table names is not run.

    Returns
    -------
    list of Path
        The files written.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise BadInput(f"study folder '{folder}' does not exist or is not a folder; give one that `tcbo study` wrote")
    drawings = drawings_of(folder, problem_files)
    target = folder / "figures" if output is None else Path(output)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BadInput(f"output '{target}' is a file; give a folder") from None
    except OSError as error:
        raise DiskError(f"{target}: cannot be created ({error.strerror})") from None
    written: list[Path] = []
    for stem, (_, draw) in zip(_file_names([name for name, _ in drawings]), drawings, strict=True):
        for kind, data in saved(draw, STYLE, DPI).items():
            written.append(target / f"{stem}.{kind}")
            write_atomically(written[-1], data)
    return written


def _file_names(names: Sequence[str]) -> list[str]:
    """Names that every file system takes, all different."""
    safe: list[str] = []
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9_.=-]+", "_", name).strip("._")[:120]
        number = 2
        unique = stem
        while unique.lower() in (other.lower() for other in safe):
            unique, number = f"{stem}_{number}", number + 1
        safe.append(unique)
    return safe
