"""The tables of a study as the figures need them: checked, with numbers as numbers and absent settings as ''."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tcbo_pyomo.errors import BadInput, suggestion

SERIES = ["method", "setting"]
"""A line, a bar colour or a panel of a figure: a method at a point of the study's grid."""
RUN = ["problem", "feedback", *SERIES, "seed"]
MOVE = [*RUN, "episode", "step", "move"]
TEXTS = {"problem", "feedback", *SERIES}
MAY_BE_EMPTY = {"regret", "identified", "candidates", "seconds"}
COORDINATE = "coordinate_"
TRUTHS = {"true": 1.0, "1": 1.0, "1.0": 1.0, "false": 0.0, "0": 0.0, "0.0": 0.0}


def read_table(folder: Path, name: str) -> pd.DataFrame | None:
    """A table of a study folder; None where the study has not written it."""
    path = folder / name
    if not path.exists():
        return None
    try:
        # Only an empty cell is a missing value: a method may be called "NA".
        return pd.read_csv(path, dtype={text: str for text in TEXTS}, keep_default_na=False, na_values=[""])
    except pd.errors.EmptyDataError:
        raise BadInput(f"{path}: is empty; run the study again to write it") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read as a table ({str(error).splitlines()[0]})") from None


def checked(table: pd.DataFrame, name: str, columns: Sequence[str]) -> pd.DataFrame:
    """The named columns of a table, each of its kind; `name` is for messages."""
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise BadInput(
            f"{name}: column(s) {', '.join(missing)} missing; there are: {', '.join(map(str, table.columns))}"
        )
    if table.empty:
        raise BadInput(f"{name}: has no rows; finish at least one run first")
    return pd.DataFrame({column: _column(table[column], name) for column in columns}).reset_index(drop=True)


def chosen(table: pd.DataFrame, problem: str, feedback: str, name: str) -> pd.DataFrame:
    """The rows of one problem under one kind of feedback."""
    for column, value in (("problem", problem), ("feedback", feedback)):
        known = table[column].unique()
        if value not in known:
            raise BadInput(f"{name}: no rows with {column} '{value}'; {suggestion(value, known)}")
        table = table[table[column] == value]
    return table


def known_runs(
    runs: pd.DataFrame, problem: str, feedback: str, column: str, *others: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table of runs, checked, and its rows of a problem and feedback where a column has a value; there must be some."""
    table = checked(runs, "runs", (*MOVE, column, *others))
    known = chosen(table, problem, feedback, "runs").dropna(subset=column)
    if known.empty:
        where = f"problem '{problem}', {feedback} feedback"
        raise BadInput(f"runs: column '{column}' is empty for {where}; nothing to draw")
    return table, known


def _column(values: pd.Series, name: str) -> pd.Series:
    column = str(values.name)
    if column in TEXTS:
        return values.astype(object).where(values.notna(), "").astype(str)
    if column == "identified":
        numbers = values.map(lambda value: TRUTHS.get(str(value).lower(), np.nan)).astype(float)
        allowed = "True or False"
    else:
        numbers = pd.to_numeric(values, errors="coerce").astype(float)
        numbers = numbers.where(np.isfinite(numbers))
        allowed = "a finite number"
    # Problems with fewer coordinates than others leave some empty.
    optional = column in MAY_BE_EMPTY or column.startswith(COORDINATE)
    wrong = numbers.isna() & (values.notna() if optional else True)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise BadInput(
            f"{name}: column '{column}', row {row + 1}: {values.iloc[row]!r} must be {allowed}{' or empty' * optional}"
        )
    return numbers
