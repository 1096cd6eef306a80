"""The state of a campaign: all that simulating the rest of it needs, as plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.knowledge.finite import FiniteKnowledge
from tcbo_pyomo.knowledge.move import Move
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import FeedbackSettings, UtilitySettings
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.output_scale import OutputScale

Pending = Literal["counted", "ignored"]
"""Whether visits whose results are still to come count."""


@dataclass(frozen=True)
class PendingVisit:
    """A visit whose result is still to come.

    Attributes
    ----------
    state
        Where the plant was.
    noise_variance
        Of the result.
    order
        How many moves had been made then.
    origin
        The state that the move left; None for a measurement of the start.
    last
        Whether it was the last move of its episode.
    """

    state: int
    noise_variance: float
    order: int
    origin: int | None = None
    last: bool = False


@dataclass(frozen=True)
class Standpoint:
    """A campaign on a finite process, between two moves.

    Attributes
    ----------
    problem
        The plant as it is believed, with its rules and its budget.
    noise_variance
        What is believed now about the noise of each stored transition.
    feedback
        When results come.
    mean, factor
        The belief from all results told: mean (n) and a factor of the covariance (n x M).
    incumbent
        The best score of a result told; None before the first one.
    path
        States of the present episode, the start first.
    moves_made, moves_left
        Moves of the campaign so far, and still to be made.
    pending
        Visits whose results are still to come, in the order made.
    band_width
        Standard deviations of the credible band, where a member's settings name none.
    scale
        On which scale the output is modelled.
    prior_factor
        Makes a factor of the covariance before the first result (n x M).
    departed
        What the moves so far teach about each state (n) where they count at the state they left: with pending ones
        "counted" and "ignored".
    goal
        Which values are better, as modelled.
    first_incumbent
        The best score before the first result.
    """

    problem: Problem
    noise_variance: Array
    feedback: FeedbackSettings
    mean: Array
    factor: Array
    incumbent: float | None
    path: tuple[int, ...]
    moves_made: int
    moves_left: int
    pending: tuple[PendingVisit, ...]
    band_width: float
    scale: OutputScale
    prior_factor: Callable[[], Array]
    departed: Mapping[Pending, Array]
    goal: Goal = MAXIMISE
    first_incumbent: float = 0.0

    def covariance(self) -> Array:
        """Covariance of the states given all results told (n x n)."""
        return np.asarray(self.factor @ self.factor.T)

    def departed_covariance(self, pending: Pending) -> Array:
        """Covariance of the states (n x n) given a history that counts the states which were left."""
        from tcbo_pyomo.planning.finite.planned_posterior import FeaturePosterior  # Few members count departures.

        return FeaturePosterior(self.prior_factor(), self.departed[pending]).covariance_of(np.arange(len(self.mean)))


def standpoint_of(knowledge: FiniteKnowledge) -> Standpoint:
    """The state of a campaign, from what it knows."""
    history, belief = knowledge.history, knowledge.belief
    pending = tuple(_pending_visit(move, knowledge) for move in history.pending)
    counting = {word: UtilitySettings(information="departure", pending=word) for word in get_args(Pending)}
    return Standpoint(
        problem=knowledge.problem,
        noise_variance=knowledge.noise_factor * knowledge.problem.process.noise_variance,
        feedback=knowledge.settings.feedback,
        mean=belief.mean,
        factor=belief.factor,
        incumbent=knowledge.best_known,
        path=tuple(int(state) for state in history.situation().path),
        moves_made=history.moves_made,
        moves_left=history.moves_of(knowledge.problem.episodes) - history.moves_made,
        pending=pending,
        band_width=knowledge.band_width,
        scale=knowledge.scale,
        goal=knowledge.goal,
        first_incumbent=0.0 if history.told else knowledge.incumbent,
        prior_factor=knowledge.prior_factor,
        departed={word: knowledge.past_information(counted) for word, counted in counting.items()},
    )


def _pending_visit(move: Move, knowledge: FiniteKnowledge) -> PendingVisit:
    history = knowledge.history
    return PendingVisit(
        state=int(move.arrived),
        noise_variance=knowledge.noise_variance(move),
        order=history.order(move),
        origin=int(move.origin) if move.step > 0 else None,
        last=move.step == history.length(move.episode),
    )
