"""The two beliefs of a campaign: from measurements, and with pending visits counted as made (section 4.1).

Everything here is a function of the history: loading a campaign replays it in the same order, bit for bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.profiling import section, timed
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.knowledge.plausibility import Surprise, surprise_of
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.belief_protocol import Belief
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.linearisation import has_mechanism, relinearised

BeliefOfPlant = TypeVar("BeliefOfPlant", bound=Belief)
"""The belief on one kind of plant."""


class Knowledge(ABC, Generic[BeliefOfPlant]):
    """What a campaign knows; the base of `FiniteKnowledge` and `ContinuousKnowledge`."""

    problem: ProblemProtocol

    def __init__(self, settings: Settings, seed: int, history: History) -> None:
        self.settings, self.seed, self.history = settings, seed, history
        self._declared: Kernel | None = None
        self._kernel: Kernel | None = None
        self._belief: BeliefOfPlant | None = None
        self.forget()

    @property
    def kernel(self) -> Kernel:
        """The prior; a fit may change it between episodes, and a mechanism is linearised where the results say."""
        if self._kernel is None:
            if self._declared is None:
                self._declared = self.problem.kernel
            self._kernel = self._declared
            if has_mechanism(self._declared):
                with section("surrogate"):
                    self._kernel = relinearised(self._declared, *self.results())
        return self._kernel

    @property
    def belief(self) -> BeliefOfPlant:
        """Given all measurements told; built when it is first asked for."""
        if self._belief is None:
            self._belief = self._replayed()
        return self._belief

    @property
    @abstractmethod
    def rule(self) -> Any:
        """What lists the candidates; loaded when it is first asked for."""

    @abstractmethod
    def prior(self, kernel: Kernel) -> BeliefOfPlant:
        """The belief before the first result."""

    @abstractmethod
    def utility(self, generator: np.random.Generator) -> Any:
        """U given the history, pending visits included: what the planner of this plant minimises."""

    @property
    @abstractmethod
    def candidates(self) -> Integers | Array:
        """Where the maximum may still be (Z): indices of states, or K x d scaled points."""

    @property
    @abstractmethod
    def recommendation(self) -> Location:
        """Where the posterior mean is largest in the search space."""

    @property
    def route_moves(self) -> list[dict[str, Any]] | None:
        """How an episode gets to the recommendation, move by move; None where no such route is kept."""
        return None

    @abstractmethod
    def scaled_points(self, locations: Sequence[Location]) -> Array:
        """Locations as scaled points, n x d."""

    def replay(self, kernel: Kernel) -> None:
        """The belief follows anew from the history, when it is next asked for."""
        self._declared, self._kernel, self._belief = kernel, None, None
        self.forget()

    @timed("surrogate")
    def _replayed(self) -> BeliefOfPlant:
        """The belief from the history, in the order in which results were told."""
        belief = self.prior(self.kernel)
        for move, value in self.history.measurements:
            self._observe(belief, move, value)
        return belief

    def forget(self) -> None:
        """Results or visits have changed: what was derived from them is computed again when it is asked for."""
        self._design: BeliefOfPlant | None = None

    def start_episode(self) -> None:
        """Before an episode: fit the hyper-parameters, if the settings say so."""
        if self.settings.surrogate.fit == "each_episode" and self.history.told:
            from tcbo_pyomo.surrogate.hyperparameters import fit_hyperparameters  # Loads SciPy's optimisers.

            with section("surrogate"):
                kernel = fit_hyperparameters(self.kernel, *self.results())
            self.replay(kernel)

    def results(self) -> tuple[Array, Array, Array]:
        """All results in the order told: points (n x d, scaled), values and noise variances."""
        told = self.history.measurements
        points = self.scaled_points([move.arrived for move, _ in told])
        values = np.array([value for _, value in told], dtype=float)
        return points, values, np.array([self.noise_variance(move) for move, _ in told], dtype=float)

    def visited(self, move: Move) -> None:
        """A move was made; its result is pending."""
        if self._design is not None:
            self._observe(self._design, move, None)

    def measured(self, move: Move) -> None:
        """A result was told: the last of the move's values."""
        if self._kernel is not None and has_mechanism(self._kernel):
            self.replay(self._kernel)
        elif self._belief is not None:
            self._observe(self._belief, move, move.values[-1])
        self.forget()

    def surprise(self, move: Move, value: float, confirmed: bool = False) -> Surprise | None:
        """What the model expects of a result that is not told yet, where it comes out very differently."""
        (mean,), (deviation,) = self.belief.predict([move.arrived])
        return surprise_of(value, float(mean), math.hypot(deviation, math.sqrt(self.noise_variance(move))), confirmed)

    @property
    def design(self) -> BeliefOfPlant:
        """The belief in which pending visits count as made: their results will shrink the variance."""
        if self._design is None:
            pending = self.history.pending
            if not pending or self.settings.utility.pending == "ignored":
                return self.belief
            with section("surrogate"):
                self._design = self.belief.copy()
            for move in pending:
                self._observe(self._design, move, None)
        return self._design

    @property
    def share_spent(self) -> float:
        """How much of the budget of moves has been used, from 0 to 1."""
        return min(1.0, self.history.moves_made / self.history.moves_of(self.problem.episodes))

    def noise_variance(self, move: Move) -> float:
        """Noise variance of the measurement after a move."""
        return self.problem.noise_variance(move.decision, move.arrived)

    @timed("surrogate")
    def _observe(self, belief: BeliefOfPlant, move: Move, value: float | None) -> None:
        belief.observe(move.arrived, value, self.noise_variance(move))
