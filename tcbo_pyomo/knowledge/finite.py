"""What a campaign on a finite process knows: its beliefs, the candidates, and the utility that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.foundation.wording import counted
from tcbo_pyomo.knowledge.credited_visits import credited_visits
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.knowledge.knowledge import BY_FEEDBACK, Knowledge
from tcbo_pyomo.knowledge.past_results import Past, PastBatch
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import Settings, UtilitySettings
from tcbo_pyomo.surrogate.features import state_factor
from tcbo_pyomo.surrogate.features.exact import given_points, quick_factor
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.joint_moments import Moments
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.likely_rivals import likely_rivals
from tcbo_pyomo.surrogate.rivals import Rivals

if TYPE_CHECKING:
    from tcbo_pyomo.candidates.protocol import FiniteRule
    from tcbo_pyomo.planning.finite.expected_regret import ExpectedRegret
    from tcbo_pyomo.planning.finite.utility import Posterior, Utility

DEFAULT_RULE = "credible_band"
SAME_STATE = 1e-6
"""Share of an axis by which a past experiment may miss the state that it was made in."""
LEARNED_WIDTH = 2.0
"""Standard deviations of the credible band, at least, where the model is learned: of 100 functions drawn from other priors than
the declared one 97 had their maximum among the candidates at the end, 89 with the usual width
(`examples/robustness/coverage.py`)."""


class FiniteKnowledge(Knowledge[FiniteBelief]):
    """Beliefs about the black box on the states of a finite process."""

    problem: Problem

    def __init__(self, problem: Problem, settings: Settings, seed: int, history: History) -> None:
        self.problem = problem
        self._noisier: tuple[float, Process] | None = None
        self._before: tuple[Kernel, Array] | None = None
        super().__init__(settings, seed, history)

    @cached_property
    def rule(self) -> FiniteRule:
        """What lists the candidates."""
        from tcbo_pyomo.candidates.protocol import candidate_rule  # Whoever only wants the belief needs no rule.

        chosen = self.settings.candidates
        if chosen.width is None:
            chosen = chosen.model_copy(update={"width": self.band_width})
        name = DEFAULT_RULE if chosen.rule in (None, BY_FEEDBACK) else chosen.rule
        return candidate_rule(name, "finite", chosen, self.goal)

    @property
    def band_width(self) -> float:
        """Standard deviations of the credible band where the settings name none."""
        return max(self.problem.confidence_width, 0.0 if self.learner is None else LEARNED_WIDTH)

    def prior(self, kernel: Kernel) -> FiniteBelief:
        """The prior on all states."""
        return self._of_states(self._prior_at(kernel, self.problem.distinct_inputs))

    def informed_prior(self, kernel: Kernel) -> FiniteBelief:
        """The prior on all states, given all past experiments; those between states teach through the kernel."""
        points, values, noise = self.past_results()
        if len(values) == 0:
            return self.prior(kernel)
        inputs, factor = self.problem.distinct_inputs, self.noise_factor / self.scale.noise_factor
        believed = noise * factor + self.past_doubts()
        rows, between = state_rows(points, inputs)
        if len(between) and self._features == "exact":
            return self._of_states(given_points(kernel, inputs, points, values, believed))
        belief = self._prior_at(kernel, np.vstack([inputs, between]))
        for row, value, variance in zip(rows.tolist(), values.tolist(), believed.tolist(), strict=True):
            belief.observe(row, value, variance)
        return self._of_states(belief.of_first(len(inputs)))

    def past_notes(self, batch: PastBatch) -> list[str]:
        """Which rows lie between the states."""
        inputs = self.problem.distinct_inputs
        rows, between = state_rows(Past((batch,)).points(self.problem), inputs)
        if len(between) == 0:
            return []
        first = next(r for r, row in zip(batch.results, rows.tolist(), strict=True) if row >= len(inputs))
        places = counted(len(between), "row")
        return [f"{places} between the states of the plant (first: row {first.row}), which teach through the model"]

    def past_within_reach(self) -> list[float]:
        """Values of past experiments at states that an episode can visit, as they are modelled."""
        points, values, _ = self.past_results()
        rows, _ = state_rows(points, self.problem.distinct_inputs)
        reached = set(self.problem.input_of[self.problem.search_space].tolist())
        return [value for value, row in zip(values.tolist(), rows.tolist(), strict=True) if row in reached]

    def _of_states(self, belief: FiniteBelief) -> FiniteBelief:
        """The belief on all states, from the one on distinct inputs: states with the same inputs share one value."""
        if self.problem.inputs is None:
            return belief
        shared = self.problem.input_of
        return FiniteBelief(belief.mean[shared], belief.factor[shared])

    def _prior_at(self, kernel: Kernel, points: Array) -> FiniteBelief:
        """The prior at scaled inputs (n x p)."""
        # Random features get a stream of their own, so that they are the same after loading.
        stream = np.random.default_rng(np.random.SeedSequence([self.seed, 2]))
        if self.learner is not None and self._features == "exact":
            return FiniteBelief(kernel.mean(points), quick_factor(kernel, points))
        factor = state_factor(kernel, points, self._features, self.settings.surrogate.number, stream)
        return FiniteBelief(kernel.mean(points), factor)

    @property
    def _features(self) -> str:
        """On finitely many states an exact update never takes longer, however much is known."""
        features = self.settings.surrogate.features
        return "exact" if features == "auto" else features

    def _observe_first(self, belief: FiniteBelief, told: list[tuple[Move, float]], doubts: Array) -> int:
        """All at once: one by one they would take longer than a plan by backward induction."""
        if told:
            rows = np.array(self.seen([move.arrived for move, _ in told]), dtype=np.int64)
            values = np.array([self.scale.modelled(value) for _, value in told], dtype=float)
            noise = np.array([self.noise_variance(move) for move, _ in told], dtype=float)
            belief.observe_all(rows, values, noise + doubts)
        return len(told)

    def scaled_points(self, locations: Sequence[Location]) -> Array:
        """What the black box sees of states, n x p scaled inputs."""
        return self.problem.seen_states[np.array(locations, dtype=np.int64)]

    def past_changed(self) -> None:
        """Past experiments were added or removed: all that was learned follows anew."""
        self._before = None
        super().past_changed()

    def load(self, state: dict[str, Any]) -> None:
        """Take over what `state` returned, once the history is loaded."""
        self._before = None
        super().load(state)

    def forget(self) -> None:
        """Results or visits have changed: what was derived from them is computed again when it is asked for."""
        super().forget()
        self._candidates: Integers | None = None

    @property
    def candidates(self) -> Integers:
        """Indices of the states that may still be the best (Z)."""
        if self._candidates is None:
            from tcbo_pyomo.candidates.protocol import listed

            with section("search space"):
                space = self.problem.places
            with section("candidates"):
                # A stream of its own for each set, so that a rule with chance in it lists the same after loading.
                stream = np.random.default_rng(np.random.SeedSequence([self.seed, 3, len(self.history.told)]))
                self._candidates = listed(self.rule, self.belief, space, stream, self.share_spent, self.goal)
        return self._candidates

    @property
    def recommendation(self) -> int:
        """The state with the largest expected score in the search space: the posterior mean where the goal maximises."""
        expected = self.goal.expected(self.belief.mean, self.belief.standard_deviation)
        return int(np.where(self.problem.places, expected, -np.inf).argmax())

    @property
    def route_moves(self) -> list[dict[str, Any]] | None:
        """How an episode gets to the recommendation, where it is one of several states with the same inputs."""
        return None if self.problem.inputs is None else self.problem.route_to(self.recommendation)

    def rivals(self, tolerance: float, generator: np.random.Generator) -> list[int]:
        """The recommendation, and the states that are better by more than a tolerance with some probability."""
        best, belief = self.recommendation, self.belief
        places = np.flatnonzero(self.problem.search_space)
        places = places[places != best]
        own, others = belief.factor[best], belief.factor[places]
        deviation, variance = np.linalg.norm(others - own, axis=1), np.einsum("ij,ij->i", others, others)
        rivals = Rivals(belief.mean[best], own @ own, belief.mean[places], variance, others @ own, deviation)
        return [best, *places[likely_rivals(self.goal.chances(rivals, tolerance))[0]].tolist()]

    def inputs_of(self, rivals: Sequence[Location]) -> Array:
        """The states as scaled points."""
        return self.scaled_points(rivals)

    def moments_at(self, locations: Sequence[Location]) -> Moments:
        """Joint mean and covariance of some states."""
        rows = np.array(locations, dtype=np.int64)
        factor = self.belief.factor[rows]
        return Moments(self.belief.mean[rows], factor @ factor.T)

    def utility(self, generator: np.random.Generator) -> Utility | ExpectedRegret:
        """U given the history, pending visits included."""
        from tcbo_pyomo.planning.finite.expected_regret import ExpectedRegret  # Only plans need them.
        from tcbo_pyomo.planning.finite.move_information import MoveInformation
        from tcbo_pyomo.planning.finite.utility import Utility

        settings = self.settings.utility
        mean = self.belief.mean
        posterior = self._posterior_given()
        process, factor = self._process, self.noise_factor
        information = MoveInformation(process, self.problem.horizon, settings.information, self.problem.passes)
        objective = self.settings.finite_objective
        if objective == "regret":
            standing = self.recommendation, self.goal, self.problem.place_shares
            return ExpectedRegret(process, posterior, self.problem.places, mean, factor, information, *standing)
        about = self.candidates, objective, generator, mean, factor, information, self.goal
        return Utility(process, posterior, *about)

    @property
    def _process(self) -> Process:
        """The plant with the noise that is believed now."""
        if self._noisier is None or self._noisier[0] != self.noise_factor:
            self._noisier = self.noise_factor, self.problem.process.with_noise(self.noise_factor)
        return self._noisier[1]

    def _posterior_given(self) -> Callable[[Array | None], Posterior]:
        """The posterior of the utility as a function of planned information: the history is counted as the settings say."""
        from tcbo_pyomo.planning.finite.planned_posterior import FeaturePosterior

        settings = self.settings.utility
        if settings.form == "kernel":
            return partial(self._kernel_posterior, self.past_information(settings))
        if settings.information == "arrival":
            return lambda planned: FeaturePosterior(self.design.factor, planned)
        past, factor = self.past_information(settings), self.prior_factor()
        return lambda planned: FeaturePosterior(factor, past if planned is None else past + planned)

    def past_information(self, counted: UtilitySettings) -> Array:
        """What the moves that were made teach about each state (n), counted as settings say: visits / noise variance."""
        information = np.zeros(self.problem.process.number_of_states)
        for state, move, measurements in credited_visits(self.history, counted):
            information[state] += measurements / self.noise_variance(move)
        return information

    def prior_factor(self) -> Array:
        """F before the first result told, where F F^T is the covariance of the states (n x M)."""
        if self._before is None or self._before[0] is not self.kernel:
            self._before = self.kernel, self.informed_prior(self.kernel).factor
        return self._before[1]

    def _kernel_posterior(self, past: Array, planned: Array | None) -> Posterior:
        from tcbo_pyomo.planning.finite.planned_posterior import KernelPosterior

        points, factor = self.problem.seen_states, self.prior_factor() if self.history.past else None
        covariance = self.kernel(points, points) if factor is None else factor @ factor.T
        return KernelPosterior(covariance, past if planned is None else past + planned)


def state_rows(points: Array, states: Array) -> tuple[Integers, Array]:
    """For n scaled points the index of their state; those between states get the next numbers, and are returned as well."""
    rows = np.empty(len(points), dtype=np.int64)
    between: list[Array] = []
    for position, point in enumerate(points):
        distance = np.abs(states - point).max(axis=1)
        nearest = int(distance.argmin())
        if distance[nearest] <= SAME_STATE:
            rows[position] = nearest
        else:
            rows[position] = len(states) + len(between)
            between.append(point)
    return rows, np.array(between, dtype=float).reshape(-1, states.shape[1])
