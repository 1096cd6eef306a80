"""Executed paths: where a plant really went, episode by episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.plant.situation import Location


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
    by_episode: dict[int, list[Move]] = {}
    for move in history.made:
        if move.step > 0:
            by_episode.setdefault(move.episode, []).append(move)
    found = []
    for number, moves in sorted(by_episode.items()):
        points = points_of(problem, [history.start, *(move.arrived for move in moves)])
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
