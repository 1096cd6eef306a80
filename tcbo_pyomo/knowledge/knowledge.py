"""The two beliefs of a campaign: from measurements, and with pending visits counted as made (section 4.1).

Everything here is a function of the history: loading a campaign replays it in the same order, bit for bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.profiling import section, timed
from tcbo_pyomo.knowledge.credited_visits import planned_visits
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.knowledge.plausibility import Surprise, surprise_of
from tcbo_pyomo.knowledge.taught_knowledge import TaughtKnowledge
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.belief_protocol import Belief
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.joint_moments import Moments
from tcbo_pyomo.surrogate.kernel_factors import Learned
from tcbo_pyomo.surrogate.kernels import kernel_from_dict
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.linearisation import has_mechanism, relinearised
from tcbo_pyomo.surrogate.residuals import LeftOut, leave_one_out

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.certainty import Certainty

BeliefOfPlant = TypeVar("BeliefOfPlant", bound=Belief)
"""The belief on one kind of plant."""

BY_FEEDBACK = "by_feedback"
"""The candidate rule that follows from the plant and from when results come, as in the paper."""


class Knowledge(TaughtKnowledge, ABC, Generic[BeliefOfPlant]):
    """What a campaign knows; the base of `FiniteKnowledge` and `ContinuousKnowledge`."""

    _certainty: Certainty | None

    def __init__(self, settings: Settings, seed: int, history: History) -> None:
        self.settings, self.seed, self.history = settings, seed, history
        self._kernel: Kernel | None = None
        self._linearised: Kernel | None = None
        self._learned: Learned | None = None
        self._belief: BeliefOfPlant | None = None
        self._doubts = np.zeros(0)
        self.forget()

    @cached_property
    def goal(self) -> Goal:
        """Which values are better, as they are modelled."""
        return self.problem.goal.on(self.scale)

    @property
    def kernel(self) -> Kernel:
        """The prior; learning changes it after every few results, a fit as in earlier versions between episodes.

        A mechanism in it is linearised where the results say.
        """
        if self._linearised is None:
            prior = self.problem.kernel if self._kernel is None else self._kernel
            prior = prior if self.learned is None else self.learned.kernel
            self._linearised = relinearised(prior, *self.believed_results()) if has_mechanism(prior) else prior
        return self._linearised

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
        """Where the best may still be (Z): indices of states, or K x d scaled points."""

    @property
    @abstractmethod
    def recommendation(self) -> Location:
        """Where the expected score of the goal is largest in the search space: the posterior mean where that maximises."""

    @abstractmethod
    def rivals(self, tolerance: float, generator: np.random.Generator) -> Sequence[Location]:
        """The recommendation, and the places that may be better by more than a tolerance, as it is modelled."""

    @abstractmethod
    def inputs_of(self, rivals: Sequence[Location]) -> Array:
        """What the black box sees of rivals, as scaled points (n x p)."""

    @abstractmethod
    def moments_at(self, locations: Sequence[Location]) -> Moments:
        """Joint mean and covariance of some places given all results, as the output is modelled."""

    @property
    def certainty(self) -> Certainty | None:
        """How sure it is that enough is known, where the settings have a stop; None without one."""
        if not self.settings.stop.active:
            return None
        if self._certainty is None:
            from tcbo_pyomo.knowledge.drawn_regrets import certainty_of  # Few campaigns have a stop.

            self._certainty = certainty_of(self)
            if self._certainty is not None and self._certainty.enough_known:
                from tcbo_pyomo.knowledge.contradicted_stop import doubt_about  # Loads SciPy.

                self._certainty = replace(self._certainty, doubt=doubt_about(self))
        return self._certainty

    @property
    def route_moves(self) -> list[dict[str, Any]] | None:
        """How an episode gets to the recommendation, move by move; None where no such route is kept."""
        return None

    def seen(self, locations: Sequence[Location] | Array) -> Any:
        """What the black box sees of n places, as the belief takes it."""
        return locations

    def replay(self, kernel: Kernel) -> None:
        """The belief follows anew from the history, when it is next asked for.

        Where the campaign learns, the kernel follows from the results and not from what is given here.
        """
        self._kernel, self._linearised, self._learned, self._belief = kernel, None, None, None
        self.forget()

    @timed("surrogate")
    def _replayed(self) -> BeliefOfPlant:
        """The belief from the history, in the order in which results were told."""
        with one_blas_thread():
            told = self.history.measurements
            self._doubts = self._doubted()
            belief = self.informed_prior(self.kernel)
            first = 0 if self.learned is None else max(0, self.learned.results - len(self.history.past))
            first = self._observe_first(belief, told[:first], self._doubts[:first])
            for (move, value), doubt in zip(told[first:], self._doubts[first:].tolist(), strict=True):
                self._observe(belief, move, value, doubt)
        return belief

    def _observe_first(self, belief: BeliefOfPlant, told: list[tuple[Move, float]], doubts: Array) -> int:
        """Take the results that the prior was learned from into a belief at once; how many were taken.

        Never those after them: a campaign that is loaded takes these one by one, as it did before.
        """
        return 0

    @abstractmethod
    def informed_prior(self, kernel: Kernel) -> BeliefOfPlant:
        """The belief before the first result of the campaign: the prior, given all past experiments."""

    def past_changed(self) -> None:
        """Past experiments were added or removed: all that was learned follows anew."""
        vars(self).pop("learner", None)
        self.replay(self.problem.kernel if self._kernel is None else self._kernel)

    def under(self, settings: Settings) -> Self:
        """The same knowledge for a method with other settings of candidates, utility and planner; the belief is shared."""
        _ = self.belief  # Built once for all of them.
        twin = copy(self)
        twin.settings = settings
        vars(twin).pop("rule", None)
        twin.forget()
        return twin

    def forget(self) -> None:
        """Results or visits have changed: what was derived from them is computed again when it is asked for."""
        self._design: BeliefOfPlant | None = None
        self._certainty = None

    def start_episode(self) -> None:
        """Before an episode: fit the hyper-parameters, if the settings say so."""
        if self.settings.surrogate.fit == "each_episode" and self.history.known:
            from tcbo_pyomo.surrogate.hyperparameters import fit_hyperparameters  # Loads SciPy's optimisers.

            with section("surrogate"):
                kernel = fit_hyperparameters(self.kernel, *self.results())
            self.replay(kernel)

    def left_out(self, kept: Integers | None = None) -> LeftOut:
        """Every result against its prediction from all others, in the order told, as it is modelled; of some results only."""
        points, values, noise = self.believed_results()
        chosen = np.arange(len(values)) if kept is None else kept
        return leave_one_out(self.kernel, points[chosen], values[chosen], noise[chosen])

    def state(self) -> dict[str, Any]:
        """What is kept beside the history: the kernel, and what was learned."""
        if self.learner is None or self.learned is None:
            return {"kernel": self.kernel.to_dict()}
        return {"kernel": self.kernel.to_dict(), "learned": self.learner.state(self.learned, *self._taught())}

    def load(self, state: dict[str, Any]) -> None:
        """Take over what `state` returned, once the history is loaded."""
        vars(self).pop("learner", None)  # It depends on the number of past experiments.
        if self.learner is not None and state.get("learned") is not None:
            self.learner.remember(state["learned"])
        # Only a fit as in earlier versions makes another kernel than the declared one that nobody could find again.
        fitted = self.settings.surrogate.fit == "each_episode"
        self.replay(kernel_from_dict(state["kernel"]) if fitted else self.problem.kernel)

    def visited(self, move: Move) -> None:
        """A move was made; its result is pending."""
        if self._design is not None:
            for visit in planned_visits(move):
                self._observe(self._design, visit, None)

    def measured(self, move: Move) -> None:
        """A result was told: the last of the move's values."""
        if self.learner is not None and self.learner.learns_at(self.history.known):
            self._learned, self._linearised, self._belief = None, None, None
        elif self._linearised is not None and has_mechanism(self._linearised):
            self._linearised, self._belief = None, None
        elif self._belief is not None:
            as_before = np.append(self._doubts, 0.0)
            if self.learner is None or np.array_equal(self._doubted(), as_before):
                self._doubts = as_before
                self._observe(self._belief, move.visits[-1], move.values[-1])
            else:
                self._belief = None  # It is doubted, or another result no longer is.
        self.forget()

    def believed_after_all(self) -> None:
        """A doubted result was confirmed: what was learned, and the belief, follow anew."""
        if self.learner is not None:
            self._learned, self._linearised, self._belief = None, None, None
            self.forget()

    def surprise(self, move: Move, value: float, confirmed: bool = False) -> Surprise | None:
        """What the model expects of a result that is not told yet, if it comes out unlikely."""
        (mean,), (deviation,) = self.belief.predict(self.seen([move.arrived]))
        sd = math.hypot(deviation, math.sqrt(self.noise_variance(move)))
        found = surprise_of(self.scale.modelled(value), float(mean), sd, confirmed)
        if found is None:
            return None
        (expected,), (deviation,) = self.scale.measured(np.array([found.expected]), np.array([found.sd]))
        return replace(found, expected=float(expected), sd=float(deviation))

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
                for visit in planned_visits(move):
                    self._observe(self._design, visit, None)
        return self._design

    @property
    def share_spent(self) -> float:
        """How much of the budget of moves has been used, from 0 to 1."""
        return min(1.0, self.history.moves_made / self.history.moves_of(self.problem.episodes))

    @property
    def best_known(self) -> float | None:
        """The best score of a result where an episode can go; None before the first one."""
        told = [self.scale.modelled(value) for _, value in self.history.measurements]
        values = np.array([*told, *self.past_within_reach()], dtype=float)
        return float(self.goal.score(values).max()) if len(values) else None

    @property
    def incumbent(self) -> float:
        """The best score of a result; before the first one 0, or for a target what is expected of the start."""
        if (known := self.best_known) is not None:
            return known
        if self.goal.first_incumbent is not None:
            return self.goal.first_incumbent
        return float(self.goal.expected(*self.belief.predict(self.seen([self.problem.start_state])))[0])

    def predict(self, locations: Sequence[Location] | Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the output at n places, in its own unit."""
        return self.scale.measured(*self.belief.predict(self.seen(locations)))

    def noise_variance(self, move: Move) -> float:
        """Noise variance of the measurement after a move, as it is believed now."""
        return self.noise_factor * self.problem.noise_variance(move.decision, move.arrived)

    @timed("surrogate")
    def _observe(self, belief: BeliefOfPlant, move: Move, value: float | None, doubt: float = 0.0) -> None:
        modelled = None if value is None else self.scale.modelled(value)
        belief.observe(self.seen([move.arrived])[0], modelled, self.noise_variance(move) + doubt)
