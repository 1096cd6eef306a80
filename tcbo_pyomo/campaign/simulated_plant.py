"""A simulated plant: it moves as the problem says and measures the known truth with noise."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.plant.situation import Decision, Location
from tcbo_pyomo.problem.protocol import ProblemProtocol


class SimulatedPlant:
    """Moves as the problem says and measures the truth with noise.

    Chance depends on the seed and the number of the move only, so that every method meets the same noise, and a resumed
    campaign the same as an uninterrupted one.
    """

    def __init__(self, problem: ProblemProtocol, seed: int) -> None:
        if not problem.simulated:
            raise BadInput(f"problem '{problem.name}' has no known truth and cannot be simulated; use ask and tell")
        self.problem, self.seed = problem, seed

    def make(self, move: Move) -> Location:
        """Where a move leads."""
        if move.expected is not None:
            return move.expected
        return self.problem.draw_arrival(move.origin, move.decision, self._chance(move, 1))

    def measure(self, move: Move) -> float | list[tuple[float, float]]:
        """The noisy result of a move that was made; a series where it is measured on its way, too."""
        assert move.arrived is not None
        chance = self._chance(move, 2)
        value = self._at(move.decision, move.arrived, chance)
        if not move.way:
            return value
        length = self.problem.step_duration or 1.0
        way = [(share * length, self._at(move.decision, place, chance)) for share, place in move.way]
        return [*way, (length, value)]

    def _at(self, decision: Decision, place: Location, chance: np.random.Generator) -> float:
        sd = self.problem.noise_variance(decision, place) ** 0.5
        return float(self.problem.true_value(place) + sd * chance.standard_normal())

    def _chance(self, move: Move, stream: int) -> np.random.Generator:
        made = (move.episode - 1) * self.problem.horizon + move.step
        return np.random.default_rng(np.random.SeedSequence([self.seed, 1, stream, made]))
