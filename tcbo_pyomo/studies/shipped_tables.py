"""Results that ship with a README: the rows that its tables are made of, compressed, and the tables written into it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from tcbo_pyomo.foundation.atomic_file import write_atomically
from tcbo_pyomo.studies.statistics import CASE, moments
from tcbo_pyomo.studies.study_tables import frame_of

if TYPE_CHECKING:
    import pandas as pd

RUN = [*CASE, "seed"]
UNREAD = ["step", "candidates"]
"""Columns of runs.csv that no table of regrets is made of."""


def table_of(folder: Path, name: str) -> pd.DataFrame | None:
    """A table of a study, whole or as a small folder has it (compressed); None where it is missing."""
    file = _file_of(folder, name)
    return None if file is None else frame_of(file)


def has_table(folder: Path, name: str) -> bool:
    """Whether `table_of` would find one."""
    return _file_of(folder, name) is not None


def _file_of(folder: Path, name: str) -> Path | None:
    files = (folder / f"{name}.csv", folder / f"{name}.csv.gz")
    return next((file for file in files if file.exists()), None)


def keep_small(
    folder: Path, target: Path, moves: Callable[[pd.DataFrame], Collection[int]] = moments, digits: int = 6
) -> None:
    """The runs of a study after some of its moves, which may differ from problem to problem, with so many digits."""
    import pandas as pd

    runs = table_of(folder, "runs")
    if runs is None:
        return
    groups = runs.groupby(["problem", "feedback"], sort=False)
    small = pd.concat([table[table["move"].isin(moves(table))] for _, table in groups])
    keep_table(small.drop(columns=UNREAD, errors="ignore"), target, "runs", digits)


def keep_table(table: pd.DataFrame, folder: Path, name: str, digits: int = 6) -> None:
    """Write a small table; runs that an earlier one has and this one has not stay, so that it can be made in parts."""
    import pandas as pd

    before = table_of(folder, name)
    if before is not None:
        left = ~pd.MultiIndex.from_frame(before[RUN]).isin(pd.MultiIndex.from_frame(table[RUN]))
        table = pd.concat([before[left], table])
    data = table.to_csv(index=False, float_format=f"%.{digits}g", lineterminator="\n")
    folder.mkdir(parents=True, exist_ok=True)
    # Without the time of writing: the same runs are the same bytes.
    write_atomically(folder / f"{name}.csv.gz", gzip.compress(data.encode(), mtime=0))


def written(text: str, name: str, block: str) -> str:
    """A README whose block between `<!-- NAME -->` and `<!-- end -->` is replaced; unchanged where it has none."""
    pattern = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda found: f"{found[1]}{block}\n{found[2]}", text)
