"""The files of a finished run: experiments.csv, result.json and paths.png.

The same seed and settings give byte-identical tables: floats are written with all their digits, and nothing
depends on the clock. All files are written under temporary names and renamed at the end, result.json last, so
that a folder with a result.json holds one whole run.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcbo_pyomo._version import __version__
from tcbo_pyomo.errors import BadInput, DiskError

if TYPE_CHECKING:
    from tcbo_pyomo.campaign.simulation import CampaignResult

RUN_FILES = ("experiments.csv", "paths.png", "result.json")


def prepare_folder(folder: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse, before any work is done, a folder that holds a run or cannot be written to; writes nothing."""
    place = Path(folder)
    try:
        present = [name for name in RUN_FILES if (place / name).exists()]
        existing = next(parent for parent in (place, *place.absolute().parents) if parent.exists())
    except OSError as error:
        raise DiskError(f"output folder '{place}': {error.strerror}; nothing was run") from None
    if present and not force:
        found = ", ".join(present)
        raise BadInput(f"output folder '{place}' holds a run ({found}); name another, or use --force")
    if not existing.is_dir():
        raise BadInput(f"output folder '{place}': '{existing}' is a file; name a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DiskError(f"output folder '{place}': no permission to write in '{existing}'; nothing was run")


def write_run(result: CampaignResult, folder: str | os.PathLike[str]) -> None:
    """Write the files of a run into a folder, which is made when it does not exist."""
    from tcbo_pyomo.report.figures.campaign_figure import campaign_figure
    from tcbo_pyomo.report.figures.canvas import figure_of

    place = Path(folder)
    data = json.dumps(result_data(result), indent=2, default=str)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=place) as temporary:
            table, figure, summary = (Path(temporary, name) for name in RUN_FILES)
            result.experiments.to_csv(table, index=False, lineterminator="\n")
            figure_of(campaign_figure(result)).savefig(figure, dpi=200)
            summary.write_text(data + "\n", encoding="utf-8")
            for finished in (table, figure, summary):
                _synchronise(finished)
            (place / summary.name).unlink(missing_ok=True)
            for finished in (table, figure, summary):
                os.replace(finished, place / finished.name)
    except OSError as error:
        reason = error.strerror or error
        raise DiskError(f"output folder '{place}': {reason}; the run was not written") from error


def result_data(result: CampaignResult) -> dict[str, Any]:
    """What result.json holds, as plain data."""
    return {
        "problem": result.problem.name,
        "method": result.method,
        "seed": result.seed,
        "version": __version__,
        "settings": result.settings.model_dump(),
        "episodes": [asdict(episode) for episode in result.episodes],
        "steps": [asdict(step) for step in result.steps],
    }


def _synchronise(path: Path) -> None:
    """Wait until a file is on the disk, so that its new name never points to half of it."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
