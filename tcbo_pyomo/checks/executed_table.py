"""Executed paths from a CSV file of set-points, such as the log of a plant or an exported campaign."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tcbo_pyomo.checks.executed_path import ExecutedEpisode, points_of
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.csv_table import read_table, table_headings, table_rows

COUNTERS = ("episode", "step")
"""Columns that say which move a row is; both may be left out."""


def episodes_of_table(problem: Any, path: str | os.PathLike[str]) -> list[ExecutedEpisode]:
    """The episodes of a CSV file of executed set-points.

    One row per point arrived at, in the order of the moves, under a header that names every coordinate; write
    "temperature (K)" where a column has another unit. Optional columns: `episode` from 1, and `step` from 1 within each
    episode, where step 0 is the point it started from; a step given again at the same point is a replicate measurement.
    Without them every episode starts where the problem says, and a new one begins after each `horizon` rows.
    """
    where = f"table '{os.fspath(path)}'"
    (first, header), *rows = table_rows(path, where)
    headings = table_headings(header, f"{where}, row {first}")
    counters = [name for name in COUNTERS if name in headings]
    table = read_table(path, {**{c.name: c.unit for c in problem.coordinates}, **dict.fromkeys(counters)})
    numbers = [number for number, _ in rows]
    size = len(problem.coordinates)
    points = table.values[:, :size]
    given = {name: _whole(table.values[:, size + i], name, numbers, where) for i, name in enumerate(counters)}
    step = given.get("step")
    episode = given["episode"] if "episode" in given else _episodes(step, len(points), problem.horizon)
    for row, (before, after) in zip(numbers[1:], pairwise(episode), strict=True):
        if after < before:
            raise BadInput(f"{where}, row {row}: episode {after} comes after {before}")
    last = int(episode[-1])
    found = []
    for number in np.unique(episode):
        inside = np.flatnonzero(episode == number)
        start = points_of(problem, [problem.start_state])
        if step is not None:
            inside = _in_order(inside, step, points, numbers, where)
            if step[inside[0]] == 0:
                start, inside = points[inside[:1]], inside[1:]
        complete = len(inside) >= problem.horizon or int(number) < last
        places = np.vstack([start, points[inside]])
        found.append(ExecutedEpisode(int(number), tuple(numbers[i] for i in inside), places, complete))
    return found


def _whole(values: Array, name: str, rows: Sequence[int], where: str) -> Integers:
    smallest = 1 if name == "episode" else 0
    for value, row in zip(values, rows, strict=True):
        if value != round(value) or value < smallest or value > 1e9:
            place = f"{where}, row {row}, column '{name}'"
            raise BadInput(f"{place}: {value:g} must be a whole number of at least {smallest}")
    return values.astype(np.int64)


def _episodes(step: Integers | None, rows: int, horizon: int) -> Integers:
    """The episode of each row where no column says it: a new one begins when the steps begin again."""
    if step is None:
        return np.arange(rows) // horizon + 1
    begins = np.concatenate([[True], step[1:] < step[:-1]])
    return np.cumsum(begins)


def _in_order(inside: Integers, step: Integers, points: Array, rows: Sequence[int], where: str) -> Integers:
    """The rows of an episode without replicates; a move across a missing step could not be judged."""
    first = inside[0]
    if step[first] > 1:
        raise BadInput(
            f"{where}, row {rows[first]}: the episode begins with step {step[first]}; give every step from 1 on"
        )
    kept = [first]
    for before, here in pairwise(inside):
        if step[here] == step[before] and np.array_equal(points[here], points[before]):
            continue
        if step[here] != step[before] + 1:
            order = f"step {step[here]} follows step {step[before]}"
            raise BadInput(f"{where}, row {rows[here]}: {order}; give every step, once, in order")
        kept.append(here)
    return np.array(kept)
