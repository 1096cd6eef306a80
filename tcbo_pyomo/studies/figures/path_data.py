"""The paths of one seed, taken from the study's table of paths."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.studies.figures.figure_data import COORDINATE, RUN, SERIES, checked, chosen
from tcbo_pyomo.studies.figures.series import Series, series_of


@dataclass(frozen=True)
class Walk:
    """Where the plant was in each episode of one run, the start first; k x d places in engineering units."""

    series: Series
    episodes: list[Array]


def walks_of(paths: pd.DataFrame, problem: str, feedback: str, seed: int | None = None) -> tuple[int, list[Walk]]:
    """The seed and its walks, one per series; without a seed the first one that most series have."""
    coordinates = [column for column in map(str, paths.columns) if column.startswith(COORDINATE)]
    if not coordinates:
        raise BadInput(f"paths: column(s) {COORDINATE}1 missing; there are: {', '.join(map(str, paths.columns))}")
    coordinates.sort(key=lambda column: (len(column), column))
    table = checked(paths, "paths", (*RUN, "episode", "step", *coordinates))
    rows = chosen(table, problem, feedback, "paths")
    used = [column for column in coordinates if rows[column].notna().any()]
    series_per_seed = rows.groupby("seed")[SERIES].apply(lambda part: len(part.drop_duplicates()))
    taken = int(series_per_seed.idxmax()) if seed is None else seed
    own = rows[rows["seed"] == taken].sort_values(["episode", "step"], kind="stable")
    if own.empty:
        known = ", ".join(f"{value:g}" for value in series_per_seed.index)
        raise BadInput(
            f"paths: no rows with seed {seed!r} for problem '{problem}', {feedback} feedback; known: {known}"
        )
    return taken, [
        Walk(series, [part[used].to_numpy(dtype=float) for _, part in series.rows(own).groupby("episode")])
        for series in series_of(rows[rows["seed"] == taken], table)
    ]
