"""The rest of a campaign on a continuous plant, simulated with the methods themselves on functions of the posterior.

Functions are pathwise samples: they have a value anywhere, and each has its own reachable maximum. There is no lean copy of the
methods here: a simulated move is planned as a real one is, with few candidates and one solve per plan. What was learned about
the model stays as it is in the course of a simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.knowledge.continuous import ContinuousKnowledge
from tcbo_pyomo.knowledge.feedback import released
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.rehearsal.members import Member
from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples


class Chooses(Protocol):
    """A method: what a simulation needs of it."""

    def next_decision(self, situation: Situation, knowledge: Any, generator: np.random.Generator) -> Decision:
        """What to do next."""


@dataclass(frozen=True)
class DrawnPlant:
    """A plant with a drawn function: what it measures after each move, and the best that an episode can reach.

    Attributes
    ----------
    function
        One pathwise sample of the posterior, as the output is modelled.
    best
        Its best value among reachable points, as it is modelled.
    noise
        Standard normal numbers, one for each move of the campaign, the start included.
    """

    function: PosteriorSamples
    best: float
    noise: Array

    def value(self, inputs: ArrayLike) -> float:
        """The function at inputs of the black box (p), as it is modelled."""
        return float(self.function.value(np.array([inputs], dtype=float))[0, 0])


class ContinuousSimulator:
    """Simulates the rest of a campaign with each member.

    Parameters
    ----------
    make
        Makes the method of a member; simulations never use the one that acts, and what plans keep from plan to plan.
    """

    usual_draws, every = 8, 0.25

    def __init__(self, make: Callable[[Member], Chooses]) -> None:
        self._make = make

    def final_regrets(
        self, members: Sequence[Member], knowledge: ContinuousKnowledge, draws: int, seed: np.random.SeedSequence
    ) -> dict[str, Array]:
        """What each member misses at the end of the simulated campaigns (D each), on the same functions with the same noise."""
        if len(members) == 1:
            return {members[0].name: np.zeros(draws)}
        functions, noise, ties = seed.spawn(3)
        plants = self._plants(knowledge, draws, functions, noise)
        methods = {member.name: self._make(member) for member in members}
        found = {}
        for member in members:
            streams = [np.random.default_rng([*np.atleast_1d(ties.generate_state(2)), draw]) for draw in range(draws)]
            found[member.name] = np.array(
                [
                    _rest(methods[member.name], knowledge, member, plant, stream)
                    for plant, stream in zip(plants, streams, strict=True)
                ]
            )
        return found

    def _plants(
        self,
        knowledge: ContinuousKnowledge,
        draws: int,
        functions: np.random.SeedSequence,
        noise: np.random.SeedSequence,
    ) -> list[DrawnPlant]:
        """Each has a stream of its own: more draws do not change the first ones."""
        moves = knowledge.history.moves_of(knowledge.problem.episodes) + 1
        plants = []
        for function, normal in zip(functions.spawn(draws), noise.spawn(draws), strict=True):
            sample = knowledge.belief.samples(1, np.random.default_rng(function))
            best = knowledge.best_of(sample)
            plants.append(DrawnPlant(sample, best, np.random.default_rng(normal).standard_normal(moves)))
        return plants


@timed("rehearsal")
def _rest(
    method: Chooses, known: ContinuousKnowledge, member: Member, plant: DrawnPlant, generator: np.random.Generator
) -> float:
    """Make all moves that are left with one method, on one drawn function; what the recommendation misses at the end."""
    knowledge = _twin(known, member)
    history, problem = knowledge.history, knowledge.problem
    while history.episode <= problem.episodes:
        situation = history.situation()
        decision = method.next_decision(situation, knowledge, generator)
        expected = problem.expected_arrival(situation.state, decision)
        move = history.add(situation.state, situation.step + 1, decision, expected)
        move.arrived = expected
        knowledge.visited(move)
        last = history.episode > problem.episodes
        for late in history.pending if last else released(history, knowledge.settings.feedback):
            _measure(late, knowledge, plant)
    recommended = plant.value(knowledge.seen([knowledge.recommendation])[0])
    best, found = problem.goal.score(knowledge.scale.output(np.array([plant.best, recommended])))
    return float(max(best - found, 0.0))


def _twin(known: ContinuousKnowledge, member: Member) -> ContinuousKnowledge:
    """The same knowledge with a history and a belief of its own, which learns nothing more about the model."""
    twin = known.under(member.lean().settings)
    history = History(known.history.start, known.history.horizon)
    data = known.history.to_dict()
    # What is asked for and not made yet is what the simulation begins with.
    data["moves"] = [move for move in data["moves"] if move["arrived"] is not None or move["cancelled"]]
    history.load(data)
    twin.history = history
    twin.take_as_known()
    return twin


def _measure(move: Move, knowledge: ContinuousKnowledge, plant: DrawnPlant) -> None:
    sd = float(np.sqrt(knowledge.noise_variance(move)))
    true = plant.value(knowledge.seen([move.arrived])[0])
    modelled = true + sd * plant.noise[knowledge.history.order(move)]
    move.add_value(float(knowledge.scale.measured(np.array([modelled]), np.zeros(1))[0][0]), None)
    knowledge.history.told.append(move.number)
    knowledge.measured(move)
