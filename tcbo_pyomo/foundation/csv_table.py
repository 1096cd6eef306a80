"""A table of past measurements: CSV with a header of names and units, "temperature (degC), yield (%)", one row each.

The reading is strict: whatever is wrong is one `BadInput` that names the file, the row as an editor counts it, and the
column.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.cell_text import cells_of, has_decimal_comma
from tcbo_pyomo.foundation.limited_read import read_limited
from tcbo_pyomo.foundation.unit_text import readable_unit

_HEADING = re.compile(r"(?P<name>[^()\[\]]+)(?:[(\[](?P<unit>[^()\[\]]*)[)\]])?")
LONGEST_HEADING = 200
LARGEST_FILE = 50_000_000
"""Bytes; larger tables are not those of experiments."""


@dataclass(frozen=True)
class MeasurementTable:
    """Some columns of a table as numbers.

    Attributes
    ----------
    names, units
        One per column; the units are those the values are in.
    values
        One row per measurement, one column per name.
    rows
        The number of each of these rows in the file, as an editor counts it.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    rows: tuple[int, ...]


def read_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, str | None],
    without: Mapping[str, Collection[str]] | None = None,
    content: list[tuple[int, list[str]]] | None = None,
) -> MeasurementTable:
    """Read the named columns of a CSV file.

    Parameters
    ----------
    path
        A CSV file in UTF-8, separated by commas, semicolons or tabs. Columns that are not asked for may hold anything.
    columns
        The unit wanted for each name; None to keep the unit of the header. A column whose header has no unit is taken
        to be in the unit wanted.
    without
        Rows that are left out: those with one of these words in the column of that name, if there is one.
    content
        What `table_rows` has read of the file already: a pipe can be read only once.
    """
    where = f"table '{os.fspath(path)}'"
    (first, header), *rows = content or table_rows(path, where)
    headings = table_headings(header, f"{where}, row {first}")
    for name in columns:
        if name not in headings:
            raise BadInput(f"{where}, row {first}: no column '{name}'; {suggestion(name, headings)}")
    if not rows:
        raise BadInput(f"{where}, row {first}: there is a header but no measurements below it")
    for name, words in (without or {}).items():
        if name in headings:
            column, _ = headings[name]
            rows = [(number, cells) for number, cells in rows if not _is_one_of(cells, column, words)]
    values = np.empty((len(rows), len(columns)))
    for index, (number, cells) in enumerate(rows):
        if len(cells) != len(headings):
            raise BadInput(f"{where}, row {number}: {len(cells)} cells, the header has {len(headings)}")
        for column, name in enumerate(columns):
            values[index, column] = finite_number(cells[headings[name][0]], f"{where}, row {number}, column '{name}'")
    units = []
    for column, (name, wanted) in enumerate(columns.items()):
        given = headings[name][1]
        units.append(given if wanted is None else wanted)
        if given and given != units[-1]:
            place = f"{where}, row {first}, column '{name}'"
            values[:, column] = converted_values(values[:, column], given, units[-1], place)
    return MeasurementTable(tuple(columns), tuple(units), values, tuple(number for number, _ in rows))


def _is_one_of(cells: list[str], column: int, words: Collection[str]) -> bool:
    return column < len(cells) and cells[column].strip() in words


def table_rows(
    path: str | os.PathLike[str], where: str, largest: int = LARGEST_FILE
) -> list[tuple[int, list[str]]]:
    """(row number, cells) of every row that is not blank, the header first."""
    content = read_limited(path, where, largest)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{where}, row {row}: not UTF-8 text; save the file as CSV with UTF-8 encoding") from None
    rows = cells_of(text, where)
    if not rows:
        raise BadInput(f"{where} is empty; its first row must name the columns")
    return rows


def table_headings(cells: list[str], where: str) -> dict[str, tuple[int, str]]:
    """{name: (column, unit)} of a header."""
    headings: dict[str, tuple[int, str]] = {}
    for column, cell in enumerate(cells):
        match = _HEADING.fullmatch(cell.strip()) if len(cell) <= LONGEST_HEADING else None
        name = "" if match is None else match["name"].strip()
        if match is None or not name:
            shown = cell if len(cell) <= LONGEST_HEADING else f"{cell[:20]}..."
            raise BadInput(f"{where}: column {column + 1} is headed {shown!r}; write 'name' or 'name (unit)'")
        if name in headings:
            raise BadInput(f"{where}: column '{name}' occurs twice; rename one of them")
        headings[name] = column, (match["unit"] or "").strip()
    return headings


def finite_number(cell: str, where: str) -> float:
    """The finite number in a cell."""
    try:
        # Python reads 1_0 as ten and the digits of every alphabet; other programs do neither.
        number = float(cell.replace("_", "?") if cell.isascii() else "?")
    except ValueError:
        advice = f"; write {cell.strip().replace(',', '.')}" if has_decimal_comma(cell) else ""
        raise BadInput(f"{where}: {cell!r} is not a number{advice}") from None
    if not math.isfinite(number):
        raise BadInput(f"{where}: {cell!r} is not a finite number; remove the row or fill the cell")
    return number


def converted_values(values: Array, given: str, wanted: str, where: str) -> Array:
    """Values in another unit; temperatures with an offset such as degC are converted as temperatures."""
    readable_unit(given, where)
    from pyomo.environ import units

    try:
        quantity: Any = units.pint_registry.Quantity(values, given)
        return np.asarray(quantity.to(wanted or "dimensionless").magnitude, dtype=float)
    except Exception as error:
        raise BadInput(f"{where}: unit '{given}' does not convert to '{wanted}' ({error})") from None
