"""What the campaign knows: the belief from measurements, the belief that also counts pending visits, and the candidates.

Everything here is a function of the history: loading a campaign replays it in the same order, bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.coordinates import Array
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.history import History, Move
from tcbo_pyomo.planning.posteriors import FeaturePosterior, KernelPosterior
from tcbo_pyomo.planning.utility import Posterior, Utility
from tcbo_pyomo.problem import Problem
from tcbo_pyomo.process import Integers
from tcbo_pyomo.registry import load_class
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.belief import GaussianBelief
from tcbo_pyomo.surrogate.features import state_factor
from tcbo_pyomo.surrogate.hyperparameters import fit_hyperparameters
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


def candidate_rule(name: str, parameter: float) -> Any:
    """The candidate rule with a name, made with its one parameter (a width or a count)."""
    rule_class = load_class("tcbo_pyomo.maximizers", "candidate rule", name)
    if not isinstance(rule_class, type) or "__call__" not in vars(rule_class):
        raise BadInput(f"candidate rule '{name}' must be a class whose objects are called with the belief")
    try:
        return rule_class(parameter)
    except TypeError as error:
        raise BadInput(f"candidate rule '{name}' cannot be made from one number ({error})") from None


class Knowledge:
    """Beliefs about the black box on the states of a finite process.

    Attributes
    ----------
    kernel
        The prior; a fit may change it between episodes.
    belief
        Given all measurements told.
    """

    def __init__(self, problem: Problem, settings: Settings, seed: int, history: History) -> None:
        self.problem, self.settings, self.seed, self.history = problem, settings, seed, history
        self._rule = candidate_rule(settings.candidates.rule, settings.candidates.width or problem.confidence_width)
        self.replay(problem.kernel)

    def replay(self, kernel: Kernel) -> None:
        """Build the belief anew from the history, in the order in which results were told."""
        self.kernel = kernel
        points, surrogate = self.problem.process.scaled_states, self.settings.surrogate
        # Random features get a stream of their own, so that they are the same after loading.
        stream = np.random.default_rng(np.random.SeedSequence([self.seed, 2]))
        factor = state_factor(kernel, points, surrogate.features, surrogate.number, stream)
        self.belief = GaussianBelief(kernel.mean(points), factor)
        for move, value in self.history.measurements:
            self._observe(self.belief, move, value)
        self.forget()

    def forget(self) -> None:
        """Results or visits have changed: what was derived from them is computed again when it is asked for."""
        self._design: GaussianBelief | None = None
        self._candidates: Integers | None = None

    def start_episode(self) -> None:
        """Before an episode: fit the hyper-parameters, if the settings say so."""
        if self.settings.surrogate.fit == "each_episode" and self.history.told:
            told = self.history.measurements
            points = self.problem.process.scaled_states[np.array([move.arrived for move, _ in told])]
            values = np.array([value for _, value in told], dtype=float)
            noise = np.array([self._noise_variance(move) for move, _ in told])
            self.replay(fit_hyperparameters(self.kernel, points, values, noise))

    def visited(self, move: Move) -> None:
        """A move was made; its result is pending."""
        if self._design is not None:
            self._observe(self._design, move, None)

    def measured(self, move: Move) -> None:
        """A result was told: the last of the move's values."""
        self._observe(self.belief, move, move.values[-1])
        self.forget()

    @property
    def design(self) -> GaussianBelief:
        """The belief in which pending visits count as made: their results will shrink the variance."""
        if self._design is None:
            pending = self.history.pending
            if not pending:
                return self.belief
            self._design = self.belief.copy()
            for move in pending:
                self._observe(self._design, move, None)
        return self._design

    @property
    def candidates(self) -> Integers:
        """Indices of the states that may still be the maximum (Z)."""
        if self._candidates is None:
            self._candidates = self._rule(self.belief, self.problem.search_space)
        return self._candidates

    @property
    def recommendation(self) -> int:
        """The state with the largest posterior mean in the search space."""
        return int(np.where(self.problem.search_space, self.belief.mean, -np.inf).argmax())

    def utility(self, generator: np.random.Generator) -> Utility:
        """U given the history, pending visits included."""
        settings = self.settings.utility
        posterior = self._kernel_posterior if settings.form == "kernel" else self._feature_posterior
        return Utility(self.problem.process, posterior, self.candidates, settings.objective, generator)

    def _feature_posterior(self, planned: Array | None) -> Posterior:
        return FeaturePosterior(self.design.factor, planned)

    def _kernel_posterior(self, planned: Array | None) -> Posterior:
        points = self.problem.process.scaled_states
        information = np.zeros(len(points)) if planned is None else planned.copy()
        for move in self.history.made:
            if not move.skipped:
                information[move.arrived] += max(1, len(move.values)) / self._noise_variance(move)
        return KernelPosterior(self.kernel(points, points), information)

    def _observe(self, belief: GaussianBelief, move: Move, value: float | None) -> None:
        assert move.arrived is not None
        belief.observe(move.arrived, value, self._noise_variance(move))

    def _noise_variance(self, move: Move) -> float:
        assert move.arrived is not None
        return self.problem.noise_variance(move.decision, move.arrived)
