"""The state of a campaign, its best point, and all of its moves as a table."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.atomic_file import refuse_to_replace, write_atomically
from tcbo_pyomo.foundation.wording import with_unit
from tcbo_pyomo.knowledge.certainty import Certainty
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.knowledge.plausibility import Surprise
from tcbo_pyomo.planning.fall_backs import fall_backs
from tcbo_pyomo.plant.measured_moments import MOMENT
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.records.model_summary import ModelSummary, model_summary
from tcbo_pyomo.rehearsal.choice import acting_in_words

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.mechanism_in_words import Explained


@dataclass(frozen=True)
class Status:
    """The state of a campaign.

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
        The move asked for and not yet made; the first one of a schedule.
    schedule
        Moves asked for as a schedule and not yet made, as far as reported.
    pending
        Moves made whose result is to come.
    violations
        Declared limits that executed moves broke, by move.
    surprises
        Results that the model finds unlikely and nobody confirmed, in words, by move.
    finished
        Whether every move of the budget was made, or enough is known.
    fall_backs
        Plans that are warm starts, for the nonlinear solver did nothing; `fall_backs_in_words` says why.
    belief, belief_lines
        Lengthscales and measurement noise that the model believes in now, with their uncertainty: as data and in words;
        None where its kernel is a user's that must not run.
    warnings
        Where the results contradict the model, and what to do.
    planned_with
        The solver that plans and why it is used, in words; None where nothing is planned.
    acting
        For `method: rollout` the method that made the last move and why it was chosen, in words.
    goal, goal_in_words
        What is sought: maximise, minimise, or {target: value}; and in words.
    amendments
        What was changed in the problem or the settings while it ran, and after which move, in words.
    stop, stop_in_words
        How sure it is that enough is known, where the settings have a `stop` and a result was told: as data and in words.
    past_results, past_sources
        Past experiments that teach the model, and the tables they come from; they are no moves.
    past_surprises
        Those that are unlikely and nobody confirmed, in words.
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
    schedule: tuple[int, ...]
    pending: tuple[int, ...]
    violations: dict[int, list[str]]
    surprises: dict[int, list[str]]
    finished: bool
    belief: dict[str, Any] | None
    belief_lines: tuple[str, ...]
    warnings: tuple[str, ...]
    fall_backs: int = 0
    fall_backs_in_words: str = ""
    planned_with: str | None = None
    acting: str = ""
    goal: Any = "maximise"
    goal_in_words: str = ""
    amendments: tuple[str, ...] = ()
    stop: Certainty | None = None
    stop_in_words: str = ""
    past_results: int = 0
    past_sources: tuple[str, ...] = ()
    past_surprises: tuple[str, ...] = ()


@dataclass(frozen=True)
class Best:
    """The recommendation: where the expected score of the goal is largest. Before the first result there is none.

    Attributes
    ----------
    at
        `{coordinate: value}` in engineering units; None before the first result.
    mean, standard_deviation
        What the model expects there; None before the first result.
    measurements
        How many values it is based on.
    how_to_get_there
        The moves of an episode that lead there, in engineering units; None on a finite process.
    mechanism
        How much of the mean the mechanism of the model says, and how much is residual; None for a model without one.
    black_box_inputs
        What the black box sees there, `{input: value}`; None where that is every coordinate.
    goal
        What was sought: maximise, minimise, or {target: value}.
    stop, stop_in_words
        How sure it is that this is good enough, where the settings have a `stop`: as data and in words.
    past_results
        How many past experiments it is based on as well.
    """

    at: dict[str, float] | None
    mean: float | None
    standard_deviation: float | None
    measurements: int
    how_to_get_there: list[dict[str, Any]] | None = None
    mechanism: Explained | None = None
    black_box_inputs: dict[str, float] | None = None
    goal: Any = "maximise"
    stop: Certainty | None = None
    stop_in_words: str = ""
    past_results: int = 0


def status_of(campaign: Campaign, violations: dict[int, list[str]], model: ModelSummary | None = None) -> Status:
    """The state of a campaign now; what its model says is computed if no row holds it."""
    model = model_summary(campaign) if model is None else model
    problem, history = campaign.problem, campaign.history
    schedule = history.assumed
    ahead = schedule[0] if schedule else history.open_move
    # The plant has made no move of which a schedule only assumes that it will.
    made = history.moves_made - sum(move.step > 0 for move in schedule)
    fallen = fall_backs(campaign.plans.values())
    certainty = model.certainty
    return Status(
        problem=problem.name,
        method=campaign.method_name,
        seed=campaign.seed,
        episode=min(schedule[0].episode if schedule else history.episode, problem.episodes),
        episodes=problem.episodes,
        moves_made=made,
        moves_in_all=history.moves_of(problem.episodes),
        measurements=len(history.told),
        open_move=None if ahead is None else ahead.number,
        schedule=tuple(move.number for move in schedule),
        pending=tuple(move.number for move in history.pending if move not in schedule),
        violations=dict(violations),
        surprises={move.number: texts for move in history.moves if (texts := doubts(problem, move))},
        finished=campaign.finished and not schedule,
        fall_backs=fallen.number,
        fall_backs_in_words=str(fallen) if fallen.number else "",
        belief=model.belief,
        belief_lines=model.belief_lines,
        warnings=model.warnings,
        planned_with=campaign.method.planned_with(),
        acting=acting_in_words(campaign.plans.values(), problem.output_unit),
        goal=problem.goal.data,
        goal_in_words=problem.goal.in_words(problem.output, problem.output_unit),
        amendments=campaign.amendments,
        stop=certainty,
        stop_in_words="" if certainty is None else certainty.in_words(problem.output_unit),
        past_results=len(history.past),
        past_sources=tuple(dict.fromkeys(batch.source for batch in history.past.batches)),
        past_surprises=tuple(history.past.doubts(problem.output_unit)),
    )


def best_of(campaign: Campaign) -> Best:
    """The recommendation now."""
    from tcbo_pyomo.knowledge.mechanism_in_words import explained_at  # Of all commands only this one needs it.

    if not campaign.history.known:
        return Best(None, None, None, 0, goal=campaign.problem.goal.data)
    where = campaign.recommendation
    mean, deviation = campaign.knowledge.predict([where])
    believed = float(mean[0]), float(deviation[0])
    split = explained_at(campaign.knowledge, where)
    at, axes = campaign.problem.describe(where), campaign.problem.input_axes
    inputs = None if axes == campaign.problem.coordinates else {axis.name: at[axis.name] for axis in axes}
    told, past = len(campaign.history.told), len(campaign.history.past)
    sure, goal = campaign.certainty, campaign.problem.goal.data
    words = "" if sure is None else sure.in_words(campaign.problem.output_unit)
    return Best(at, *believed, told, campaign.route, split, inputs, goal, sure, words, past)


def doubts(problem: ProblemProtocol, move: Move) -> list[str]:
    """The results of a move that the model finds unlikely and nobody confirmed, in words."""
    unit = problem.output_unit
    surprising = [(value, surprise) for value, surprise in move.measured if surprise and not surprise.confirmed]
    return [f"{with_unit(value, unit)}, {surprise.in_words(unit)}" for value, surprise in surprising]


def standing_of(move: Move, ahead: bool = False) -> str:
    """A word for what has become of a move; `ahead` for one of a schedule that is still to be made."""
    if move.cancelled:
        return "cancelled"
    if move.value is not None:
        return "measured"
    if move.skipped:
        return "skipped"
    return "open" if move.arrived is None or ahead else "pending"


def move_columns(problem: ProblemProtocol) -> tuple[list[str], str]:
    """Headings of the coordinates and of the measured value, with units."""
    unit = f" ({problem.output_unit})" if problem.output_unit else ""
    return [coordinate.title for coordinate in problem.coordinates], f"{problem.output}{unit}"


def move_table(campaign: Campaign, violations: dict[int, list[str]]) -> list[list[Any]]:
    """A header, one row per move, one more per replicate; set-points are where the plant was, or where it was sent.

    Past experiments come first: they have no move, their status is `past`, and one more column names their table and row.
    """
    problem, unit = campaign.problem, campaign.problem.output_unit
    titles, output = move_columns(problem)
    schedule = {move.number for move in campaign.history.assumed}
    # Where moves are measured on their way, the share of the move that had passed is one more column.
    timed = any(move.along for move in campaign.history.moves)
    rows: list[list[Any]] = [["move", "episode", "step", *titles, output, "status", "violations", "surprise"]]
    if timed:
        rows[0].insert(3, MOMENT)
    past = campaign.history.past
    if past:
        rows[0].append("source")
    for batch, result in past.rows:
        known = dict(zip(batch.names, result.at, strict=True))
        there = [known.get(coordinate.name) for coordinate in problem.coordinates]
        doubt = doubt_in_words(result.surprise, unit)
        nothing = [None] * (4 if timed else 3)
        rows.append([*nothing, *there, result.value, "past", "", doubt, batch.named(result)])
    for move in campaign.history.moves:
        place = move.arrived if move.arrived is not None else move.expected
        broken = "; ".join(violations.get(move.number, ()))
        status = standing_of(move, move.number in schedule)
        measured = zip(move.measured, move.visits, move.moments, strict=True)
        told: list[tuple[Any, ...]] = [(*result, visit.arrived, share) for result, visit, share in measured]
        if 1.0 not in move.moments:
            told.append((None, None, place, 1.0))  # Where it arrived, though nothing was measured there.
        for value, surprise, where, share in told:
            values = problem.describe(where).values() if where is not None else [None] * len(titles)
            doubt, passed, source = doubt_in_words(surprise, unit), [share] if timed else [], [""] if past else []
            rows.append([move.number, move.episode, move.step, *passed, *values, value, status, broken, doubt, *source])
    return rows


def doubt_in_words(surprise: Surprise | None, unit: str) -> str:
    """What was expected of an unlikely result, and whether it was confirmed; empty for an ordinary one."""
    return ("confirmed: " if surprise.confirmed else "") + surprise.in_words(unit) if surprise else ""


def write_table(rows: list[list[Any]], path: Path, force: bool) -> int:
    """Write a table as CSV, whole or not at all; how many rows it has below its header."""
    refuse_to_replace(path)
    if os.path.lexists(path) and not force:
        raise BadInput(f"{path}: already exists; choose another name, or overwrite it with --force")
    write_atomically(path, table_text(rows))
    return len(rows) - 1


def table_text(rows: list[list[Any]]) -> bytes:
    """A table as CSV in UTF-8; every digit of a number counts."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [repr(cell) if isinstance(cell, float) else cell for cell in row] for row in rows
    )
    return text.getvalue().encode()
