"""A CSV file of results: one row each, columns by name, "product (percent)" where the unit differs.

Columns: `move`; the name of what is measured (or `value`); where the plant really was, all coordinates or none (of a plant with
hidden states those that were measured; a blank cell is one that was not); `time` since the move began, where it was measured on
its way (blank: at its end; a further row of the same move is a further measurement); `replicate` (yes or no), `key`;
`episode` and `step` are allowed and must fit the move, and so are the actions, so that the file of `ask --csv` can be filled
in.
A row without a value is one whose result is not there yet: it is left out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.csv_table import finite_number, table_headings, table_rows
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.records.results import Result, in_unit, quantity

LARGEST_FILE = 20_000_000
"""Bytes; a line per result makes no larger file."""
TIME = "time"
"""The column of the time since a move began."""
WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}


def read_results(path: str | os.PathLike[str], problem: ProblemProtocol, history: History) -> list[Result]:
    """The results of a file; whatever is wrong is one `BadInput` that names the row and the column."""
    where = f"results '{os.fspath(path)}'"
    (first, header), *rows = table_rows(path, where, LARGEST_FILE)
    headings = table_headings(header, f"{where}, row {first}")
    names = [coordinate.name for coordinate in problem.coordinates]
    output = _output_column(headings, problem.output, f"{where}, row {first}")
    limits = problem.action_limits
    actions = [] if limits is None else [name for name in limits.names or () if name not in names]
    series = [] if TIME in (*names, output) else [TIME]
    known = ["move", output, *series, "episode", "step", "replicate", "key", *names, *actions]
    for name in headings:
        if name not in known:
            raise BadInput(f"{where}, row {first}: column '{name}' is not expected; {suggestion(name, known)}")
    if "move" not in headings:
        raise BadInput(f"{where}, row {first}: no column 'move'; it names the move of each result")
    if not rows:
        raise BadInput(f"{where}, row {first}: there is a header but no results below it")
    results: list[Result] = []
    column, _ = headings[output]
    for number, cells in rows:
        place = f"{where}, row {number}"
        if len(cells) != len(headings):
            raise BadInput(f"{place}: {len(cells)} cells, the header has {len(headings)}")
        if not cells[column].strip():
            continue
        row = {name: cells[index].strip() for name, (index, _) in headings.items()}
        units = {name: unit for name, (_, unit) in headings.items()}
        result = _result(row, units, problem, history, output, place)
        if series and TIME in row:
            again = any(other.number == result.number for other in results) or history.move(result.number).value is not None
            result = replace(result, time=_time(row[TIME], units[TIME], place), replicate=result.replicate or again)
        results.append(result)
    if not results:
        raise BadInput(
            f"{where}, column '{output}': is empty in all {len(rows)} rows; fill in at least one result"
        )
    return results


def _result(
    row: Mapping[str, str],
    units: Mapping[str, str],
    problem: ProblemProtocol,
    history: History,
    output: str,
    where: str,
) -> Result:
    number = _whole(row["move"], f"{where}, column 'move'")
    move = history.move(number)
    for name, expected in (("episode", move.episode), ("step", move.step)):
        if name in row and _whole(row[name], f"{where}, column '{name}'") != expected:
            raise BadInput(f"{where}, column '{name}': {row[name]}, but move {number} has {name} {expected}")
    if row.get("replicate", "").lower() not in WORDS:
        raise BadInput(f"{where}, column 'replicate': {row['replicate']!r} must be yes or no")
    at: dict[str, float] = {}
    hidden = problem.input_axes != problem.coordinates
    for coordinate in problem.coordinates:
        if coordinate.name in row and (row[coordinate.name] or not hidden):
            place, given = f"{where}, column '{coordinate.name}'", units[coordinate.name]
            number_there = finite_number(row[coordinate.name], place)
            at[coordinate.name] = in_unit(number_there, given, coordinate.unit, place) if given else number_there
    value, unit = _measurement(row[output], units[output], f"{where}, column '{output}'")
    return Result(
        number,
        value,
        at or None,
        unit or None,
        WORDS[row.get("replicate", "").lower()],
        row.get("key") or None,
    )


def _measurement(cell: str, unit: str, where: str) -> tuple[float, str]:
    """The result in a cell, and its unit: that of the heading, unless the cell has one as in "35 %"."""
    number, own = quantity(cell)
    if not own or not math.isfinite(number):
        return finite_number(cell, where), unit
    if unit not in ("", own):
        raise BadInput(f"{where}: {cell!r} has the unit '{own}', the heading says '{unit}'; use one of them")
    return number, own


def _time(cell: str, unit: str, where: str) -> float | None:
    """The time since a move began; None for a blank cell."""
    if unit:
        raise BadInput(f"{where}, column 'time': unit '{unit}'; give times in the unit of the model, or as shares of a move")
    return finite_number(cell, f"{where}, column 'time'") if cell else None


def _output_column(headings: Mapping[str, Any], output: str, where: str) -> str:
    found = [name for name in (output, "value") if name in headings]
    if len(found) != 1:
        known = suggestion(output, headings)
        raise BadInput(f"{where}: needs one column '{output}' (or 'value') with the results; {known}")
    return found[0]


def _whole(cell: str, where: str) -> int:
    if not cell.isascii() or not cell.isdigit() or len(cell) > 9:
        raise BadInput(f"{where}: {cell[:40]!r} is not a whole number")
    return int(cell)
