"""The campaign result by result: what each measurement did to the recommendation and to the candidates.

Everything is computed by replaying the history in the order in which results were told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.assembly import knowledge_for
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import NotTrusted
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.plant.situation import Location

MOST_SEARCHES = 40
"""On a continuous box each recommendation is a search of its own; more are not drawn."""


@dataclass(frozen=True)
class Moment:
    """The campaign after one result, or before the first one (`told` 0, no move).

    Attributes
    ----------
    told
        How many results had been told.
    move, value
        The move whose result was told last, and that result.
    recommendation, mean, deviation, regret
        What was recommended then, what was believed about it, and how much worse than the best it was where that is known.
    candidates
        How many states could still be the best; None on a continuous box, where each plan draws a new sample, and where
        the rule that lists them is code that must not run.
    removed, returned
        States that this result took out of the candidates, and that came back.
    """

    told: int
    move: Move | None
    value: float | None
    recommendation: Location
    mean: float
    deviation: float
    regret: float | None
    candidates: int | None
    removed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()


def timeline(campaign: Campaign) -> list[Moment]:
    """All moments of a finite campaign, a selection of those of a continuous one; the last is always the present."""
    problem, present = campaign.problem, campaign.knowledge
    moves = [replace(move, value=None, replicates=(), surprises=()) for move in campaign.history.moves]
    history = History(campaign.history.start, campaign.history.horizon, moves, lengths=campaign.history.lengths)
    history.past = campaign.history.past
    knowledge = knowledge_for(present.problem, campaign.settings, campaign.seed, history)
    knowledge.replay(present.kernel)
    listed = problem.keeps_candidates and _may_list(knowledge)
    measurements = campaign.history.measurements
    shown = set(range(len(measurements) + 1)) if problem.keeps_candidates else _spread(len(measurements))
    moments: list[Moment] = []
    before: set[int] = set(knowledge.candidates.tolist()) if listed else set()
    told_so_far: list[tuple[Move | None, float | None]] = [(None, None), *measurements]
    for told, (move, value) in enumerate(told_so_far):
        if move is not None and value is not None:
            copy = moves[move.number - 1]
            # The first result of a move is its value, the others are replicates.
            copy.value, copy.replicates = (value, ()) if copy.value is None else (copy.value, (*copy.replicates, value))
            copy.along = campaign.history.moves[move.number - 1].along[: len(copy.values)]
            history.told.append(move.number)
            knowledge.measured(copy)
        if told not in shown:
            continue
        after: set[int] = set(knowledge.candidates.tolist()) if listed else set()
        recommended = knowledge.recommendation
        (mean,), (deviation,) = knowledge.predict([recommended])
        believed = (recommended, float(mean), float(deviation), problem.regret(recommended))
        candidates = len(after) if listed else None
        changes = (tuple(sorted(before - after)), tuple(sorted(after - before)))
        moments.append(Moment(told, move, value, *believed, candidates, *changes))
        before = after
    return moments


def _may_list(knowledge: Knowledge[Any]) -> bool:
    """Whether the rule that lists the candidates may run."""
    try:
        return knowledge.rule is not None
    except NotTrusted:
        return False


def _spread(last: int) -> set[int]:
    return {int(i) for i in np.linspace(0, last, min(last + 1, MOST_SEARCHES)).round()}
