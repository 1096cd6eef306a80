"""All runs of the robustness table: `python run.py FOLDER [WORKERS]`; call it again to resume after an interruption.

The same as `tcbo study FILE.yaml --output FOLDER/NAME` for each study file of this folder, one after the other.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tcbo_pyomo import read_study, run_study


def main(folder: Path, workers: int) -> None:
    """Run what is missing of every study."""
    here = Path(__file__).parent
    # Finite plants take seconds and come first.
    for file in sorted(here.glob("*.yaml"), key=lambda path: ("finite" not in path.stem, path.stem)):
        study = read_study(file)
        print(f"{study.name}:", flush=True)
        run_study(study, folder / study.name, workers=workers, search_path=str(here), on_progress=_said)


def _said(progress) -> None:
    if progress.done % 20 == 0 or progress.error:
        print(f"  {progress.done} of {progress.total} runs, {progress.failed} failed {progress.error or ''}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
