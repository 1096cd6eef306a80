"""Which figures a study folder has data for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.atomic_file import read_checked
from tcbo_pyomo.library import load_problem, problem_names
from tcbo_pyomo.studies.figures.ablation import ablation_figure
from tcbo_pyomo.studies.figures.candidates import candidates_figure
from tcbo_pyomo.studies.figures.figure_data import MOVE, RUN, SERIES, checked, read_table
from tcbo_pyomo.studies.figures.identification import identification_figure
from tcbo_pyomo.studies.figures.paths import paths_figure
from tcbo_pyomo.studies.figures.regret import regret_figure
from tcbo_pyomo.studies.figures.solve_times import KEYS, solve_time_figure
from tcbo_pyomo.studies.figures.sought import best_words, goal_of
from tcbo_pyomo.studies.figures.traces import traces_figure
from tcbo_pyomo.studies.study import ProblemEntry
from tcbo_pyomo.studies.study_folder import STUDY, VERSION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawing = tuple[str, Callable[[], "Axes | Figure"]]

logger = logging.getLogger(__name__)


def drawings_of(folder: Path, problem_files: Sequence[Path] = ()) -> list[Drawing]:
    """Name and function of each figure that applies; everything wrong with the tables is said before one is drawn."""
    found = read_table(folder, "runs.csv")
    if found is None:
        raise BadInput(f"study folder '{folder}' has no runs.csv; give the folder that `tcbo study` wrote")
    runs = checked(found, str(folder / "runs.csv"), (*MOVE, "regret", "identified", "candidates"))
    paths = _optional(folder, "paths.csv", (*RUN, "episode", "step"))
    timings = _optional(folder, "timings.csv", (*KEYS, "seconds"))
    drawings: list[Drawing] = []
    study = _study(folder)
    written_as = {ProblemEntry(**entry).label: entry["problem"] for entry in study.get("problems", ())}
    for problem, feedback in runs[["problem", "feedback"]].drop_duplicates().to_numpy():
        source = _source(written_as.get(problem, problem), problem, problem_files)
        known = None if source is None else load_problem(source)
        unit, goal = "" if known is None else known.output_unit, goal_of(study, problem, known)
        drawings += _of_runs(runs, problem, feedback, unit, best_words(goal, unit))
        if paths is not None and ((paths["problem"] == problem) & (paths["feedback"] == feedback)).any():
            if source is None:
                logger.warning("%s is not a shipped problem and its file was not given: drawn without landscape", problem)
                draw = partial(traces_figure, paths, problem, feedback)
            else:
                draw = partial(paths_figure, paths, problem, feedback, source=source, goal=goal)
            drawings.append((f"paths-{problem}-{feedback}", draw))
    if timings is not None:
        drawings.append(("solve_times", partial(solve_time_figure, timings)))
    return drawings


def _of_runs(runs: pd.DataFrame, problem: str, feedback: str, unit: str, best: str) -> Iterator[Drawing]:
    rows = runs[(runs["problem"] == problem) & (runs["feedback"] == feedback)]
    which, name = (runs, problem, feedback), f"{problem}-{feedback}"
    if rows["regret"].notna().any():
        yield f"regret-{name}", partial(regret_figure, *which, unit=unit)
        if (rows["setting"] != "").any():
            yield f"ablation-{name}", partial(ablation_figure, *which, unit=unit)
    if rows["identified"].notna().any():
        yield f"identification-{name}", partial(identification_figure, *which, best=best)
    # On a continuous plant a rule always gives the same number of candidates: nothing to see.
    if (rows.groupby(SERIES)["candidates"].nunique() > 1).any():
        yield f"candidates-{name}", partial(candidates_figure, *which, best=best)


def _optional(folder: Path, name: str, columns: Sequence[str]) -> pd.DataFrame | None:
    """A table that a study may lack; None without rows. Its texts are as in `runs`."""
    table = read_table(folder, name)
    if table is None or table.empty:
        return None
    return table.assign(**checked(table, str(folder / name), columns).set_index(table.index))


def _study(folder: Path) -> dict[str, Any]:
    """The definition of the study; empty where the folder has none."""
    file = folder / "study.json"
    return dict(read_checked(file, STUDY, VERSION, "study")["study"]) if file.exists() else {}


def _source(problem: str, label: str, files: Sequence[Path]) -> str | None:
    """Where to load a problem from; a file that only the folder names is not run, someone else may have written that."""
    if problem in problem_names():
        return problem
    own = [str(file) for file in files if str(file) == problem or Path(file).stem in (label, Path(problem).stem)]
    return own[0] if own else None
