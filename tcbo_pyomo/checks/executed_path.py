"""Executed paths: where a plant really went; from a campaign, from states, or from a table of set-points."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign, LimitsHeld
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.csv_table import MeasurementTable, read_table, table_headings, table_rows
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.plant.measured_moments import MOMENT
from tcbo_pyomo.plant.situation import Decision
from tcbo_pyomo.problem.protocol import ProblemProtocol

COUNTERS = ("episode", "step")
"""Columns that say which move a row is; both may be left out."""

NOT_MADE = ("cancelled", "open")
"""Words in the column `status` of an export for moves that were asked for and not made."""


@dataclass(frozen=True, eq=False)
class ExecutedEpisode:
    """One episode that was executed.

    Attributes
    ----------
    number
        The episode, from 1.
    rows
        One per move: the number of the move in a campaign or a list, the row of a file as an editor counts it.
    path
        Where the plant went.
    """

    number: int
    rows: tuple[int, ...]
    path: EpisodePath


def executed_path(
    problem: ProblemProtocol, points: Array, complete: bool, decisions: Sequence[Decision] = ()
) -> EpisodePath:
    """A path that the plant of a problem has gone: points in engineering units, the start first."""
    return EpisodePath(problem.coordinates, points, complete, decisions, problem.judge)


def episode_of_moves(campaign: Campaign, number: int, moves: Sequence[Move]) -> ExecutedEpisode:
    """The first moves of an episode of a campaign, or all of them."""
    problem, history = campaign.problem, campaign.history
    points = problem.points([moves[0].origin if moves else history.start, *(move.arrived for move in moves)])
    decisions = [move.decision for move in moves]
    path = executed_path(problem, points, len(moves) >= history.length(number), decisions)
    return ExecutedEpisode(number, tuple(move.number for move in moves), path)


def episodes_of_campaign(campaign: Campaign, numbers: Iterable[int] | None = None) -> list[ExecutedEpisode]:
    """Every move made, results told or not; of some episodes, or of all."""
    by_episode: dict[int, list[Move]] = {}
    for move in campaign.history.made:
        if move.step > 0:
            by_episode.setdefault(move.episode, []).append(move)
    wanted = sorted(by_episode if numbers is None else set(numbers) & set(by_episode))
    return [episode_of_moves(campaign, number, by_episode[number]) for number in wanted]


@dataclass(frozen=True, eq=False)
class JudgedMoves:
    """Moves that are judged by the same limits.

    Attributes
    ----------
    problem
        The problem with those limits.
    episodes
        The episodes that they belong to, whole.
    moves
        Their numbers.
    """

    problem: ProblemProtocol
    episodes: tuple[ExecutedEpisode, ...]
    moves: frozenset[int]


def moves_by_limits(campaign: Campaign, numbers: Iterable[int] | None = None) -> list[JudgedMoves]:
    """The moves of a campaign (of some episodes), by the limits that held when each was asked for."""
    episodes, held = episodes_of_campaign(campaign, numbers), campaign.limits_held
    if held is None:
        return [JudgedMoves(campaign.problem, tuple(episodes), frozenset(n for e in episodes for n in e.rows))]
    by_problem: dict[int, tuple[LimitsHeld, list[ExecutedEpisode], set[int]]] = {}
    for episode in episodes:
        for number in episode.rows:
            limits = held(campaign.history.moves[number - 1])
            _, those, moves = by_problem.setdefault(id(limits.problem), (limits, [], set()))
            moves.add(number)
            if not those or those[-1].number != episode.number:
                decisions = episode.path.decisions if limits.same_moves else ()
                path = replace(episode.path, judge=limits.problem.judge, decisions=decisions)
                those.append(replace(episode, path=path))
    return [JudgedMoves(limits.problem, tuple(those), frozenset(moves)) for limits, those, moves in by_problem.values()]


def episode_of_states(problem: ProblemProtocol, states: Sequence[Any]) -> ExecutedEpisode:
    """One episode from labels, indices or `{coordinate: value}`, the start first."""
    if len(states) == 0:
        raise BadInput("a path needs at least one state, its start")
    moves = len(states) - 1
    points = problem.points([problem.locate(state) for state in states])
    return ExecutedEpisode(1, tuple(range(1, moves + 1)), executed_path(problem, points, moves >= problem.horizon))


def episodes_of_table(problem: ProblemProtocol, path: str | os.PathLike[str]) -> list[ExecutedEpisode]:
    """The episodes of a CSV file of executed set-points.

    One row per point arrived at, in the order of the moves, under a header that names every coordinate; write
    "temperature (K)" where a column has another unit. Optional columns: `episode` from 1, and `step` from 1 within each
    episode, where step 0 is the point it started from; a step given again at the same point is a replicate measurement.
    Without them every episode starts where the problem says, and a new one begins after each `horizon` rows. A column
    `status`, as exports of campaigns have it, says of a row that it is no move that was made (`NOT_MADE`); rows with a
    `moment` below 1 were measured on the way of a move.
    """
    where = f"table '{os.fspath(path)}'"
    content = table_rows(path, where)
    (first, header), *_ = content
    headings = table_headings(header, f"{where}, row {first}")
    if len(content) == 1 and "status" in headings:
        return []  # The export of a campaign before its first move.
    counters = [name for name in (*COUNTERS, MOMENT) if name in headings]
    wanted = {**{c.name: c.unit for c in problem.coordinates}, **dict.fromkeys(counters)}
    table = read_table(path, wanted, {"status": NOT_MADE}, content)
    size = len(problem.coordinates)
    if MOMENT in counters:
        # What was measured on the way of a move says nothing about where it ended.
        table = replace(table, **_at_ends(table, size + counters.index(MOMENT)))
        counters.remove(MOMENT)
    numbers = table.rows
    if not numbers:
        return []
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
        start = problem.points([problem.start_state])
        if step is not None:
            inside = _in_order(inside, step, points, numbers, where)
            if step[inside[0]] == 0:
                start, inside = points[inside[:1]], inside[1:]
        complete = len(inside) >= problem.horizon or int(number) < last
        places = np.vstack([start, points[inside]])
        rows = tuple(numbers[i] for i in inside)
        found.append(ExecutedEpisode(int(number), rows, executed_path(problem, places, complete)))
    return found


def _at_ends(table: MeasurementTable, column: int) -> dict[str, Any]:
    """The rows of a table that are about the ends of moves, without the column that says so."""
    kept = np.flatnonzero(table.values[:, column] >= 1.0)
    return {"values": np.delete(table.values[kept], column, axis=1), "rows": tuple(table.rows[i] for i in kept)}


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
