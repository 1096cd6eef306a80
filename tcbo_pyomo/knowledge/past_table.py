"""A table of past experiments, from a CSV file or a data frame: inputs and output with units, the noise where it is known.

Headings are names or `name (unit)`, and values are converted to the units of the problem. Columns: every input of the black
box; the output (or `value`); if there is one, the standard deviation of the measurement (`noise`, `sd`, or the output's name
with `_sd`), where a blank cell means that of the problem. Other columns may hold anything, and a row without a value of the
output is left out. Whatever is wrong is one `BadInput` that names the table, the row and the column.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.coordinates import NUMBERS, Coordinate
from tcbo_pyomo.foundation.csv_table import converted_values, finite_number, table_headings, table_rows
from tcbo_pyomo.foundation.limited_read import STANDARD_INPUT
from tcbo_pyomo.foundation.wording import visible
from tcbo_pyomo.knowledge.past_results import PastResult
from tcbo_pyomo.knowledge.plausibility import checked_magnitude
from tcbo_pyomo.problem.protocol import ProblemProtocol

if TYPE_CHECKING:
    import pandas as pd

PastData: TypeAlias = Union[str, "os.PathLike[str]", "pd.DataFrame", Sequence[Mapping[str, Any]]]
"""A CSV file, a data frame, or a list of rows `{heading: value}`."""

MOST_ROWS = 2000
"""Learning takes the cube of their number."""
EDGE = 1e-6
"""Share of an axis by which a place may miss its bounds: set-points that were printed and typed in again."""


@dataclass(frozen=True)
class PastTable:
    """What a table says.

    Attributes
    ----------
    source
        The name of the file, or what the table is called.
    results
        Its rows, in the units of the problem.
    other_columns
        Headings that nothing was read from.
    blank_rows
        How many rows have no value of the output.
    """

    source: str
    results: tuple[PastResult, ...]
    other_columns: tuple[str, ...] = ()
    blank_rows: int = 0

    def notes(self) -> list[str]:
        """What was left out, in words."""
        notes = [f"left out the columns {', '.join(self.other_columns)}"] if self.other_columns else []
        rows = f"{self.blank_rows} row{'' if self.blank_rows == 1 else 's'} without a result"
        return [*notes, f"left out {rows}"] if self.blank_rows else notes


def past_table(data: PastData, problem: ProblemProtocol, name: str = "") -> PastTable:
    """Read and check a table; `name` is what it is called instead of its file."""
    source, header, rows = _cells(data)
    source = visible(name or source)
    where = f"data '{source}'"
    headings = table_headings(header, f"{where}, headings")
    axes, (output, noise) = problem.input_axes, _own_columns(headings, problem, where)
    used = [*(axis.name for axis in axes), output, *([noise] if noise else [])]
    blank = [cells for _, cells in rows if len(cells) == len(headings) and not _filled(cells[headings[output][0]])]
    read = []
    for number, cells in rows:
        if len(cells) != len(headings):
            raise BadInput(f"{where}, row {number}: {len(cells)} cells, the header has {len(headings)}")
        if _filled(cells[headings[output][0]]):
            places = ((c, cells[headings[c][0]], f"{where}, row {number}, column '{c}'") for c in used)
            read.append((number, [_number(cell, place, c == noise) for c, cell, place in places]))
    if not read:
        raise BadInput(f"{where}: no row has a value in the column '{output}'; nothing was added")
    if len(read) > MOST_ROWS:
        raise BadInput(f"{where}: {len(read)} results, at most {MOST_ROWS} can be learned from; average repeats, or thin it")
    values = np.array([numbers for _, numbers in read], dtype=float)
    for column, axis in enumerate(axes):
        values[:, column] = _converted(values[:, column], headings[axis.name][1], axis.unit, f"{where}, column '{axis.name}'")
    last, given = len(axes), headings[output][1]
    values[:, last] = _converted(values[:, last], given, problem.output_unit, f"{where}, column '{output}'")
    if noise:
        unit, place = headings[noise][1] or given, f"{where}, column '{noise}'"
        # A difference: a standard deviation in degC is one in K.
        zero = _converted(np.zeros(len(values)), unit, problem.output_unit, place)
        values[:, -1] = _converted(values[:, -1], unit, problem.output_unit, place) - zero
    results = tuple(
        _result(number, row, axes, output, where, bool(noise)) for (number, _), row in zip(read, values, strict=True)
    )
    return PastTable(source, results, tuple(column for column in headings if column not in used), len(blank))


def _cells(data: PastData) -> tuple[str, list[str], list[tuple[int, list[Any]]]]:
    """The name of a table, its headings, and its rows with their numbers."""
    if isinstance(data, (str, os.PathLike)):
        (_, header), *rows = table_rows(data, f"data '{os.fspath(data)}'")
        name = "standard input" if os.fspath(data) == STANDARD_INPUT else Path(data).name
        return name, header, [(number, list(cells)) for number, cells in rows]
    if hasattr(data, "columns") and hasattr(data, "itertuples"):
        header = [str(column) for column in data.columns]
        return "data frame", header, list(enumerate(map(list, data.itertuples(index=False, name=None)), start=1))
    if isinstance(data, Sequence) and data and all(isinstance(row, Mapping) for row in data):
        header = [str(column) for column in dict.fromkeys(column for row in data for column in row)]
        return "data", header, [(number, [row.get(h, "") for h in header]) for number, row in enumerate(data, start=1)]
    raise BadInput(f"data {type(data).__name__} must be a CSV file, a data frame, or a list of rows {{heading: value}}")


def _own_columns(headings: Mapping[str, Any], problem: ProblemProtocol, where: str) -> tuple[str, str]:
    """The columns of the output and of its noise, an empty text where there is none; inputs that are missing are refused."""
    names = [axis.name for axis in problem.input_axes]
    for name in names:
        if name not in headings:
            raise BadInput(f"{where}: no column '{name}'; {suggestion(name, headings)}")
    output = [name for name in (problem.output, "value") if name in headings and name not in names]
    if not output:
        known = suggestion(problem.output, headings)
        raise BadInput(f"{where}: no column '{problem.output}' (or 'value') with the results; {known}")
    words = ("noise", "sd", f"{problem.output}_sd", f"{problem.output} sd")
    noise = [name for name in words if name in headings and name not in (*names, output[0])]
    if len(noise) > 1:
        raise BadInput(f"{where}: the columns {', '.join(noise)} all name the standard deviation of a result; keep one of them")
    return output[0], noise[0] if noise else ""


def _filled(cell: Any) -> bool:
    """Whether a cell holds something: of a data frame None, NaN and NaT are blank."""
    return bool(cell.strip()) if isinstance(cell, str) else not (cell is None or cell != cell)


def _number(cell: Any, where: str, may_be_blank: bool = False) -> float:
    if may_be_blank and not _filled(cell):
        return math.nan
    if isinstance(cell, str):
        return finite_number(cell, where)
    if isinstance(cell, NUMBERS) and not isinstance(cell, bool) and math.isfinite(cell):
        return float(cell)
    raise BadInput(f"{where}: {cell!r} is not a finite number; remove the row or fill the cell")


def _converted(values: Any, given: str, wanted: str, where: str) -> Any:
    return converted_values(values, given, wanted, where) if given and given != wanted else values


def _result(
    number: int, row: Any, axes: Sequence[Coordinate], output: str, where: str, noise: bool
) -> PastResult:
    """One row in the units of the problem, within its bounds."""
    for axis, value in zip(axes, row, strict=False):
        slack = EDGE * axis.width
        if not axis.lower - slack <= value <= axis.upper + slack:
            raise BadInput(
                f"{where}, row {number}, column '{axis.name}': {value:g} {axis.unit}".rstrip()
                + f" lies outside {axis.lower:g} to {axis.upper:g}; remove the row, or widen the bounds of the problem"
            )
    value = checked_magnitude(f"{where}, row {number}, column '{output}'", float(row[len(axes)]))
    sd = float(row[-1]) if noise and math.isfinite(row[-1]) else None
    if sd is not None and not sd > 0:
        raise BadInput(f"{where}, row {number}: standard deviation {sd:g} must be positive; leave the cell blank if unknown")
    return PastResult(number, tuple(float(v) for v in row[: len(axes)]), value, sd)
