"""Executed paths: where a plant really went, episode by episode, from a campaign, a list of states or a CSV file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.campaign import Campaign
from tcbo_pyomo.coordinates import Array, physical
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.measurement_table import _headings, _rows, read_table
from tcbo_pyomo.planning.situation import Location
from tcbo_pyomo.process import Integers

COUNTERS = ("episode", "step")
"""Columns of a table that say which move a row is; both may be left out."""


@dataclass(frozen=True, eq=False)
class ExecutedEpisode:
    """The path of one episode.

    Attributes
    ----------
    number
        The episode, from 1.
    rows
        One per move: the number of the move in a campaign or a list, the row of a file as an editor counts it.
    points
        (k + 1) x d points in engineering units, the start first.
    complete
        Whether the episode has ended.
    """

    number: int
    rows: tuple[int, ...]
    points: Array
    complete: bool


def points_of(problem: Any, locations: Sequence[Location]) -> Array:
    """States or scaled points as rows in engineering units."""
    if problem.finite:
        return problem.process.states[np.asarray(locations, dtype=np.int64)]
    return physical(problem.coordinates, np.array(locations, dtype=float))


def episodes_of_campaign(campaign: Campaign) -> list[ExecutedEpisode]:
    """Every move made, results told or not."""
    history, problem = campaign.history, campaign.problem
    found = []
    for number in sorted({move.episode for move in history.made if move.step > 0}):
        moves = history.episode_moves(number)
        points = points_of(problem, history.path(number))
        rows = tuple(move.number for move in moves)
        found.append(ExecutedEpisode(number, rows, points, len(moves) >= problem.horizon))
    return found


def episode_of_states(problem: Any, states: Sequence[Any]) -> ExecutedEpisode:
    """One episode from labels, indices or `{coordinate: value}`, the start first."""
    if len(states) == 0:
        raise BadInput("a path needs at least one state, its start")
    points = points_of(problem, [problem.locate(state) for state in states])
    moves = len(states) - 1
    return ExecutedEpisode(1, tuple(range(1, moves + 1)), points, moves >= problem.horizon)


def episodes_of_table(problem: Any, path: str | os.PathLike[str]) -> list[ExecutedEpisode]:
    """The episodes of a CSV file of executed set-points.

    One row per point arrived at, in the order of the moves, under a header that names every coordinate; write
    "temperature (K)" where a column has another unit. Optional columns: `episode` from 1, and `step` from 1 within each
    episode, where step 0 is the point it started from. Without them every episode starts where the problem says, and a
    new one begins after each `horizon` rows.
    """
    where = f"table '{os.fspath(path)}'"
    (first, header), *rows = _rows(path, where)
    headings = _headings(header, f"{where}, row {first}")
    counters = [name for name in COUNTERS if name in headings]
    table = read_table(path, {**{c.name: c.unit for c in problem.coordinates}, **dict.fromkeys(counters)})
    numbers = [number for number, _ in rows]
    size = len(problem.coordinates)
    points = table.values[:, :size]
    given = {name: _whole(table.values[:, size + i], name, numbers, where) for i, name in enumerate(counters)}
    episode = given.get("episode")
    if episode is None:
        starts = given["step"] <= 1 if "step" in given else np.arange(len(points)) % problem.horizon == 0
        # Step 1 after a step 0 goes on with the episode that step 0 began.
        follows = np.zeros(len(points), dtype=bool)
        if "step" in given:
            follows[1:] = (given["step"][1:] == 1) & (given["step"][:-1] == 0)
        episode = np.cumsum(starts & ~follows)
    for row, before, after in zip(numbers[1:], episode, episode[1:], strict=False):
        if after < before:
            raise BadInput(f"{where}, row {row}: episode {after} comes after {before}")
    last = int(episode[-1])
    found = []
    for number in np.unique(episode):
        inside = np.flatnonzero(episode == number)
        start = points_of(problem, [problem.start_state])
        if "step" in given:
            steps = given["step"][inside]
            _refuse_gaps(steps, [numbers[i] for i in inside], where)
            if steps[0] == 0:
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


def _refuse_gaps(steps: Integers, rows: Sequence[int], where: str) -> None:
    """A move across a missing step cannot be judged."""
    if steps[0] > 1:
        raise BadInput(f"{where}, row {rows[0]}: the episode begins with step {steps[0]}; give every step from 1 on")
    for row, before, step in zip(rows[1:], steps, steps[1:], strict=False):
        if step != before + 1:
            raise BadInput(f"{where}, row {row}: step {step} follows step {before}; give every step, once, in order")
