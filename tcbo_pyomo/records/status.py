"""Where a campaign stands, its best point, and all of its moves as a table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.atomic_file import write_atomically
from tcbo_pyomo.knowledge.belief_in_words import belief_lines, belief_now
from tcbo_pyomo.knowledge.criticism import criticise
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.problem.protocol import ProblemProtocol

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Status:
    """Where a campaign stands.

    Attributes
    ----------
    problem, method, seed
        What it is a campaign of.
    episode, episodes
        The present episode, from 1, and how many there are.
    moves_made, moves_in_all
        Moves made, and of the whole budget.
    measurements
        Values told, replicates included.
    open_move
        The move asked for and not yet made.
    pending
        Moves made whose result is to come.
    violations
        Declared limits that executed moves broke, by move.
    finished
        Whether every move of the budget was made.
    belief, belief_lines
        Lengthscales and measurement noise that the model believes in now, with their uncertainty: as data and in words.
    warnings
        Where the results contradict the model, and what to do.
    planned_with
        The solver that plans and why it is used, in words; None where nothing is planned.
    """

    problem: str
    method: str
    seed: int
    episode: int
    episodes: int
    moves_made: int
    moves_in_all: int
    measurements: int
    open_move: int | None
    pending: tuple[int, ...]
    violations: dict[int, list[str]]
    finished: bool
    belief: dict[str, Any]
    belief_lines: tuple[str, ...]
    warnings: tuple[str, ...]
    planned_with: str | None = None


@dataclass(frozen=True)
class Best:
    """The recommendation: where the posterior mean is largest.

    Attributes
    ----------
    at
        `{coordinate: value}` in engineering units.
    mean, standard_deviation
        What the model expects there.
    measurements
        How many values it is based on.
    how_to_get_there
        The moves of an episode that lead there, in engineering units; None on a finite process.
    """

    at: dict[str, float]
    mean: float
    standard_deviation: float
    measurements: int
    how_to_get_there: list[dict[str, Any]] | None = None


def status_of(campaign: Campaign, violations: dict[int, list[str]]) -> Status:
    """Where a campaign stands now."""
    problem, history = campaign.problem, campaign.history
    open_move = history.open_move
    return Status(
        problem=problem.name,
        method=campaign.settings.method,
        seed=campaign.seed,
        episode=min(history.episode, problem.episodes),
        episodes=problem.episodes,
        moves_made=history.moves_made,
        moves_in_all=problem.episodes * problem.horizon,
        measurements=len(history.told),
        open_move=None if open_move is None else open_move.number,
        pending=tuple(move.number for move in history.pending),
        violations=dict(violations),
        finished=campaign.finished,
        belief=belief_now(campaign.knowledge).to_dict(),
        belief_lines=tuple(belief_lines(campaign.knowledge)),
        warnings=criticise(campaign.knowledge).warnings,
        planned_with=campaign.method.planned_with(),
    )


def best_of(campaign: Campaign) -> Best:
    """The recommendation now."""
    where = campaign.recommendation
    mean, deviation = campaign.knowledge.predict([where])
    believed = float(mean[0]), float(deviation[0])
    return Best(campaign.problem.describe(where), *believed, len(campaign.history.told), campaign.route)


def standing_of(move: Move) -> str:
    """A word for what has become of a move."""
    if move.cancelled:
        return "cancelled"
    if move.value is not None:
        return "measured"
    if move.skipped:
        return "skipped"
    return "open" if move.arrived is None else "pending"


def move_columns(problem: ProblemProtocol) -> tuple[list[str], str]:
    """Headings of the coordinates and of the measured value, with units."""
    unit = f" ({problem.output_unit})" if problem.output_unit else ""
    return [coordinate.title for coordinate in problem.coordinates], f"{problem.output}{unit}"


def move_table(campaign: Campaign, violations: dict[int, list[str]]) -> pd.DataFrame:
    """One row per move, one more per replicate; set-points are where the plant was, or where it was sent."""
    import pandas as pd  # Slow to load, and only this table needs it.

    problem = campaign.problem
    titles, output = move_columns(problem)
    rows = []
    for move in campaign.history.moves:
        place = move.arrived if move.arrived is not None else move.expected
        values = problem.describe(place).values() if place is not None else [None] * len(titles)
        known = dict(zip(titles, values, strict=True))
        broken = "; ".join(violations.get(move.number, ()))
        for measured in move.values or (None,):
            row = {"move": move.number, "episode": move.episode, "step": move.step, **known, output: measured}
            rows.append({**row, "status": standing_of(move), "violations": broken})
    return pd.DataFrame(rows, columns=["move", "episode", "step", *titles, output, "status", "violations"])


def write_table(table: pd.DataFrame, source: Path, path: Path, force: bool) -> int:
    """Write a table as CSV, whole or not at all; how many rows it has."""
    if os.path.lexists(path) and (not force or not path.is_file() or os.path.samefile(path, source)):
        raise BadInput(f"{path}: exists already; choose another name, or replace a file with --force")
    write_atomically(path, table.to_csv(index=False, lineterminator="\n").encode())
    return len(table)
