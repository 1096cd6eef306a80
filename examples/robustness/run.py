"""All runs of the robustness table: `python run.py FOLDER [WORKERS] [SEEDS] [STUDY ...]`; call it again to resume.

The same as `tcbo study FILE.yaml --output FOLDER/NAME` for each study file of this folder, one after the other: finite plants,
which take seconds, come first, then the right kernel and nothing given, then wrong beliefs. SEEDS such as 1..10 in place of
those in the files, and names of studies, make a part of it; a later call with more seeds continues in the same folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tcbo_pyomo import read_study, run_study

HERE = Path(__file__).parent


def main(folder: Path, workers: int, seeds: str = "", names: tuple[str, ...] = ()) -> None:
    """Run what is missing of every study, or of those that are named."""
    for file in sorted(HERE.glob("*.yaml"), key=_order):
        study = read_study(file)
        if names and study.name not in names:
            continue
        if seeds:
            first, _, last = seeds.partition("..")
            study = study.model_copy(update={"seeds": tuple(range(int(first), int(last or first) + 1))})
        print(f"{study.name}:", flush=True)
        # Extended: another checkout has its problem files elsewhere, and resumes all the same.
        shared = {"workers": workers, "extend": True, "search_path": str(HERE)}
        run_study(study, folder / study.name, on_progress=_said, **shared)


def _order(file: Path) -> tuple[bool, bool, bool, str]:
    return "finite" not in file.stem, "beliefs" in file.stem, "idle" in file.stem, file.stem


def _said(progress) -> None:
    if progress.done % 20 == 0 or progress.error:
        print(f"  {progress.done} of {progress.total} runs, {progress.failed} failed {progress.error or ''}", flush=True)


if __name__ == "__main__":
    own = sys.argv[2:]
    many = int(own[0]) if own else 1
    main(Path(sys.argv[1]), many, own[1] if len(own) > 1 else "", tuple(own[2:]))
