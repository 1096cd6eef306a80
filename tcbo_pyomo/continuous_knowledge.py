"""What a campaign on a continuous plant knows; the same face as `Knowledge`."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.continuous_problem import ContinuousProblem
from tcbo_pyomo.coordinates import Array
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.history import History, Move
from tcbo_pyomo.knowledge import candidate_rule
from tcbo_pyomo.maximizers.recommendation import best_mean
from tcbo_pyomo.planning.situation import Location
from tcbo_pyomo.planning.trajectory_utility import TrajectoryUtility
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.continuous import ContinuousSurrogate
from tcbo_pyomo.surrogate.hyperparameters import fit_hyperparameters
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

DEFAULT_COUNT = {"thompson_sampling": 100, "upper_confidence": 25}
"""Candidates K of each rule, as in the paper's experiments."""


class ContinuousKnowledge:
    """Beliefs about the black box on a box of scaled coordinates.

    Attributes
    ----------
    kernel
        The prior; a fit may change it between episodes.
    belief
        Given all measurements told.
    """

    def __init__(self, problem: ContinuousProblem, settings: Settings, seed: int, history: History) -> None:
        self.problem, self.settings, self.seed, self.history = problem, settings, seed, history
        name = settings.candidates.rule
        if name == "credible_band":
            raise BadInput(
                "candidate rule 'credible_band' lists the states of a finite process; a continuous problem needs "
                "'thompson_sampling' or 'upper_confidence'"
            )
        count = settings.candidates.count or DEFAULT_COUNT.get(name, 100)
        self._rule = candidate_rule(name, count)
        self.replay(problem.kernel)

    def replay(self, kernel: Kernel) -> None:
        """Build the belief anew from the history, in the order in which results were told."""
        self.kernel = kernel
        surrogate = self.settings.surrogate
        self.belief = ContinuousSurrogate(kernel, len(self.problem.coordinates), surrogate.features, surrogate.number)
        for move, value in self.history.measurements:
            self._observe(self.belief, move, value)
        self.candidates: Array = np.empty((0, len(self.problem.coordinates)))
        self.forget()

    def forget(self) -> None:
        """Results or visits have changed: what was derived from them is computed again when it is asked for."""
        self._design: ContinuousSurrogate | None = None
        self._recommendation: Location | None = None

    def start_episode(self) -> None:
        """Before an episode: fit the hyper-parameters, if the settings say so."""
        if self.settings.surrogate.fit == "each_episode" and self.history.told:
            told = self.history.measurements
            points = np.array([move.arrived for move, _ in told])
            values = np.array([value for _, value in told], dtype=float)
            self.replay(fit_hyperparameters(self.kernel, points, values, np.full(len(told), self.problem.noise)))

    def visited(self, move: Move) -> None:
        """A move was made; its result is pending."""
        if self._design is not None:
            self._observe(self._design, move, None)

    def measured(self, move: Move) -> None:
        """A result was told: the last of the move's values."""
        self._observe(self.belief, move, move.values[-1])
        self.forget()

    @property
    def design(self) -> ContinuousSurrogate:
        """The belief in which pending visits count as made."""
        if self._design is None:
            pending = self.history.pending
            if not pending:
                return self.belief
            self._design = self.belief.copy()
            for move in pending:
                self._observe(self._design, move, None)
        return self._design

    @property
    def recommendation(self) -> Location:
        """Where the posterior mean is largest."""
        if self._recommendation is None:
            best = best_mean(self.belief, allowed=self.problem.allowed)
            self._recommendation = tuple(best.tolist())
        return self._recommendation

    def utility(self, generator: np.random.Generator) -> TrajectoryUtility:
        """U given the history, pending visits included, over a fresh set of candidates."""
        self.candidates = self._rule(self.belief, generator, allowed=self.problem.allowed)
        objective = self.settings.utility.objective
        return TrajectoryUtility(self.design, self.candidates, objective, self.problem.noise, generator)

    def _observe(self, belief: ContinuousSurrogate, move: Move, value: float | None) -> None:
        belief.observe(np.asarray(move.arrived), value, self.problem.noise)


