"""The text of a table as spreadsheets write it: columns separated by commas, semicolons or tabs, numbers with a decimal comma.

A spreadsheet in German, French or Spanish separates by semicolons and writes 29,2. Where columns are separated by something
else than commas, a decimal comma can mean one thing only, and is read.
"""

from __future__ import annotations

import csv
import io
import re

from tcbo_pyomo.errors import BadInput

SEPARATORS = (",", ";", "\t")
"""The first one wins where a header has no separator at all."""
_DECIMAL_COMMA = re.compile(r"\s*[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[0-9]{1,3}(\.[0-9]{3})+\s*")


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number such as 29,2."""
    return _DECIMAL_COMMA.fullmatch(cell) is not None


def cells_of(text: str, where: str) -> list[tuple[int, list[str]]]:
    """(row number, cells) of every row that is not blank; numbers have a decimal point."""
    separator = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    try:
        rows = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise BadInput(f"{where}, row {reader.line_num}: not CSV ({error})") from None
    if separator == "," or not any(has_decimal_comma(cell) for _, cells in rows[1:] for cell in cells):
        return rows
    return [*rows[:1], *((number, _with_points(cells, f"{where}, row {number}")) for number, cells in rows[1:])]


def _separator(text: str) -> str:
    """What separates most columns of the header."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    try:
        return max(SEPARATORS, key=lambda sign: len(next(csv.reader([header], delimiter=sign), ())))
    except csv.Error:
        return SEPARATORS[0]


def _with_points(cells: list[str], where: str) -> list[str]:
    for cell in cells:
        if _THOUSANDS.fullmatch(cell):
            plain = cell.replace(".", "").strip()
            raise BadInput(
                f"{where}: {cell.strip()!r} may mean {cell.strip()} or {plain}, for other numbers of the table have a decimal "
                "comma; write it without a point that separates thousands, and with a comma for decimals"
            )
    return [cell.replace(",", ".") if has_decimal_comma(cell) else cell for cell in cells]
