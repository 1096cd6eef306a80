"""`tcbo new --data`: what a table of past experiments says about a plant: inputs with their values, output, scatter."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.csv_table import finite_number, table_headings, table_rows

MOST_VALUES = 12
"""Of an input; with more the axis gets evenly spaced values."""
SPACED = 9
SCATTERS = ("noise", "sd")
"""Headings of the standard deviation of a result."""


@dataclass(frozen=True)
class PlantTable:
    """A plant as its past experiments show it.

    Attributes
    ----------
    axes, units
        The values of each input, rising, and its unit.
    start
        The first experiment, at the nearest of these values.
    output, output_unit
        What was measured.
    scatter
        Standard deviation of a repeated measurement; None where nothing was repeated.
    results, repeated
        How many there are, and how many places were measured more than once.
    """

    name: str
    axes: dict[str, list[float]]
    units: dict[str, str]
    start: dict[str, float]
    output: str
    output_unit: str
    scatter: float | None
    results: int
    repeated: int
    lowest: float
    highest: float
    left_out: list[str] = field(default_factory=list)

    def in_words(self) -> str:
        """What was read, in two lines."""
        others = f" (left out the columns {', '.join(self.left_out)})" if self.left_out else ""
        places = "1 place was" if self.repeated == 1 else f"{self.repeated} places were"
        unit = f" {self.output_unit}" if self.output_unit else ""
        known = f"{self.scatter or 0:.2g}{unit} ({places} measured more than once)"
        scatter = known if self.scatter else "unknown (nothing was repeated)"
        return (
            f"read {self.name}: {self.results} results from {self.lowest:g} to {self.highest:g}{unit}; inputs "
            f"{', '.join(self.axes)}; output {self.output}{others}\nscatter of a repeated measurement: {scatter}"
        )


def plant_table(path: str | os.PathLike[str], output: str | None = None) -> PlantTable:
    """Read a table; `output` names its results. Default: the last column of numbers.

    Inputs are the other columns of numbers. A running number 1, 2, 3, ... in front of two or more others is none.
    """
    where = f"data '{os.fspath(path)}'"
    (first, header), *rows = table_rows(path, where)
    headings = table_headings(header, f"{where}, row {first}")
    for number, cells in rows:
        if len(cells) != len(headings):
            raise BadInput(f"{where}, row {number}: {len(cells)} cells, the header has {len(headings)}")
    columns = {name: [cells[index] for _, cells in rows] for name, (index, _) in headings.items()}
    if output is not None and output not in columns:
        raise BadInput(f"{where}: no column '{output}'; {suggestion(output, columns)}")
    numbers = [name for name, cells in columns.items() if _all_numbers(cells) and name not in SCATTERS]
    if len(numbers) > 2 and numbers[0] != output and _counts(columns[numbers[0]]):
        numbers = numbers[1:]
    output = output or (numbers[-1] if numbers else None)
    inputs = [name for name in numbers if name != output and name != f"{output}_sd"]
    if output is None or not inputs:
        found = ", ".join(numbers) or "none"
        raise BadInput(f"{where}: needs columns of numbers, one for each input and one for the result; found {found}")
    kept = [i for i in range(len(rows)) if all(columns[name][i].strip() for name in (*inputs, output))]
    if not kept:
        raise BadInput(f"{where}: no row has a number in each of the columns {', '.join((*inputs, output))}")
    places = [tuple(_number(columns[name][i], where, rows[i][0], name) for name in inputs) for i in kept]
    values = [_number(columns[output][i], where, rows[i][0], output) for i in kept]
    axes = {name: _axis([place[i] for place in places], name, where) for i, name in enumerate(inputs)}
    start = {name: _nearest(axis, at) for (name, axis), at in zip(axes.items(), places[0], strict=True)}
    scatter, repeated = _scatter(places, values)
    return PlantTable(
        Path(path).name, axes, {name: headings[name][1] for name in inputs}, start, output, headings[output][1],
        scatter, len(kept), repeated, min(values), max(values), [name for name in headings if name not in (*inputs, output)],
    )  # fmt: skip


def _number(cell: str, where: str, row: int, column: str) -> float:
    return finite_number(cell, f"{where}, row {row}, column '{column}'")


def _all_numbers(cells: Sequence[str]) -> bool:
    """Whether every cell is a number or blank, and not all are blank."""
    try:
        return bool([finite_number(cell, "") for cell in cells if cell.strip()])
    except BadInput:
        return False


def _counts(cells: Sequence[str]) -> bool:
    """Whether a column is the running number of the experiment."""
    return len(cells) > 1 and [cell.strip() for cell in cells] == [str(number) for number in range(1, len(cells) + 1)]


def _axis(found: Sequence[float], name: str, where: str) -> list[float]:
    """The values of an input; evenly spaced ones where the table has too many for a grid."""
    values = sorted(set(found))
    if len(values) == 1:
        raise BadInput(f"{where}: column '{name}' has only the value {values[0]:g}; remove it, or add the other values")
    if len(values) <= MOST_VALUES:
        return values
    inside = np.linspace(values[0], values[-1], SPACED)[1:-1]
    return [values[0], *(float(f"{value:.6g}") for value in inside), values[-1]]


def _nearest(axis: Sequence[float], at: float) -> float:
    return min(axis, key=lambda value: abs(value - at))


def _scatter(places: Sequence[tuple[float, ...]], values: Sequence[float]) -> tuple[float | None, int]:
    """The pooled standard deviation of repeated measurements, and how many places have some."""
    groups: dict[tuple[float, ...], list[float]] = {}
    for place, value in zip(places, values, strict=True):
        groups.setdefault(place, []).append(value)
    repeats = [np.array(group) for group in groups.values() if len(group) > 1]
    freedom = sum(len(group) - 1 for group in repeats)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in repeats)
    return (math.sqrt(squares / freedom) or None if freedom else None), len(repeats)
