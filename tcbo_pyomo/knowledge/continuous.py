"""What a campaign on a continuous plant knows; the counterpart of `FiniteKnowledge`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.knowledge.credited_visits import credited_visits
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.knowledge import BY_FEEDBACK, Knowledge
from tcbo_pyomo.plant.route import Route
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.continuous import SAME_PLACE, ContinuousProblem
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.joint_moments import Moments
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

if TYPE_CHECKING:
    from tcbo_pyomo.candidates.protocol import ContinuousRule
    from tcbo_pyomo.candidates.search.projected_ascent import Allowed
    from tcbo_pyomo.planning.continuous.reachable_set import ReachableSet
    from tcbo_pyomo.planning.continuous.utility import Stage, TrajectoryUtility
    from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds, ExpectedScore
    from tcbo_pyomo.surrogate.posterior_samples import PosteriorSamples

DEFAULT_RULE = "annealed"
RIVALS = 128
"""Functions drawn to find places that may be better than the recommendation."""

EXACT_MOVES = 1000
"""Largest budget with an exact posterior unless the settings ask for one. An exact update and each variance cost the square of
the number of measurements; from here on they would take longer than those of this many features."""


def representation(features: str, number: int | None, budget: int) -> tuple[str, int | None]:
    """What the surrogate of a campaign of so many moves is made of: its features, and how many."""
    if features != "auto":
        return features, number
    return ("exact", number) if budget <= EXACT_MOVES else ("nystroem", number or EXACT_MOVES)


CAUTION = 0.5
"""So many standard deviations are taken off the expected score of a place where the kernel is learned.

A learned kernel may be wrong, and then the largest mean can be far from every measurement, above all after many late results.
Hartmann3D, results 25 moves late, nothing given, mean regret of seeds 1001 to 1012 at 50, 75 and 100 of 100 moves: 0.142, 0.135
and 0.0012 without, 0.078, 0.024 and 0.0008 with it; Michalewicz3D 0.035, 0.0040, 0.0024 and 0.045, 0.0036, 0.0024. A whole
standard deviation does as well on the first and has 0.105 on the second at half of the budget."""


TELL_INPUTS_APART = 25
"""So many results for each input before a lengthscale may become longer than declared.

Along few paths, on which all inputs change together, one of them explains the results as well as all of them do; the others
then look as if they did not matter. Levy4D, results 25 moves late, nothing given, seeds 1001 to 1006: mean regret at the end
0.037 where half of the budget was enough, 0.016 with this. Hartmann3D (1001 to 1008): 0.0006 and 0.0013, both below 0.5 % of
the range."""


def best_expected(
    belief: ContinuousBelief, allowed: Allowed | None = None, goal: Goal = MAXIMISE, caution: float = 0.0
) -> Array:
    """The allowed point of the box with the largest expected score, scaled (d).

    That is the largest posterior mean where the goal maximises (section 5, "predictive regret"), less `caution` standard
    deviations.

    The search starts from measured points and a fixed survey of the box. It draws no random numbers. Of a set of reachable
    points it is one of these.
    """
    from tcbo_pyomo.candidates.search.multi_start import global_maxima

    score = _cautious_score(belief, goal, caution)
    return global_maxima(score, belief.dimension, allowed, belief.measured, along_edges=True).points[0]


def _cautious_score(belief: ContinuousBelief, goal: Goal, caution: float) -> ConfidenceBounds | ExpectedScore:
    from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds, ExpectedScore

    return ConfidenceBounds(belief, np.array([-caution]), goal) if caution else ExpectedScore(belief, goal)


class ContinuousKnowledge(Knowledge[ContinuousBelief]):
    """Beliefs about the black box on a box of scaled coordinates."""

    results_per_input = TELL_INPUTS_APART

    problem: ContinuousProblem

    def __init__(self, problem: ContinuousProblem, settings: Settings, seed: int, history: History) -> None:
        self.problem = problem
        self._left: tuple[Kernel, list[tuple[Location, float]], ContinuousBelief] | None = None
        if settings.utility.objective == "regret":
            raise BadInput(
                f"setting 'utility.objective': got 'regret', and problem '{problem.name}' is continuous; use differences or "
                "g_allocation there"
            )
        super().__init__(settings, seed, history)

    @cached_property
    def reach(self) -> ReachableSet | None:
        """Where an episode can get to; None for the whole box, and where the code of the plant is not at hand."""
        if self.problem.reaches_everything or self.problem.only_described:
            return None
        from tcbo_pyomo.planning.continuous.reachable_set import (
            reachable_set,  # Whoever only wants the belief needs none.
        )

        return reachable_set(self.problem)

    @cached_property
    def rule(self) -> ContinuousRule:
        """What lists the candidates."""
        from tcbo_pyomo.candidates.protocol import candidate_rule  # Whoever only wants the belief needs no rule.

        chosen = self.settings.candidates
        late = self.settings.feedback.kind != "immediate"
        by_feedback = "thompson_sampling" if late else "upper_confidence"
        name = by_feedback if chosen.rule == BY_FEEDBACK else chosen.rule or DEFAULT_RULE
        return candidate_rule(name, "continuous", chosen, self.goal)

    def prior(self, kernel: Kernel) -> ContinuousBelief:
        """The prior on the box."""
        self._candidates = np.empty((0, len(self.problem.input_axes)))
        self._routes: tuple[Route, ...] = ()
        return self._blank(kernel)

    def informed_prior(self, kernel: Kernel) -> ContinuousBelief:
        """The prior on the box, given all past experiments."""
        belief = self.prior(kernel)
        self._take_past(belief)
        return belief

    def _take_past(self, belief: ContinuousBelief, values_known: bool = True) -> None:
        points, values, noise = self.past_results()
        doubted = self.past_doubts().tolist()
        for point, value, variance, doubt in zip(points, values.tolist(), noise.tolist(), doubted, strict=True):
            believed = variance * self.noise_factor / self.scale.noise_factor
            belief.observe(point, value if values_known else None, believed + doubt)

    def past_changed(self) -> None:
        """Past experiments were added or removed: all that was learned follows anew."""
        self._left = None
        super().past_changed()

    def load(self, state: dict[str, Any]) -> None:
        """Take over what `state` returned, once the history is loaded."""
        self._left = None
        super().load(state)

    def _blank(self, kernel: Kernel) -> ContinuousBelief:
        surrogate, moves = self.settings.surrogate, self.problem.episodes * self.problem.horizon
        budget = len(self.history.past) + moves * len(self.problem.moments)
        chosen = representation(surrogate.features, surrogate.number, budget)
        return ContinuousBelief(kernel, len(self.problem.input_axes), *chosen)

    def scaled_points(self, locations: Sequence[Location] | Array) -> Array:
        """What the black box sees of locations, which are scaled points already."""
        return self.problem.observed(np.array(locations, dtype=float).reshape(-1, len(self.problem.coordinates)))

    def seen(self, locations: Sequence[Location] | Array) -> Any:
        """The inputs of the black box."""
        return self.scaled_points(locations) if self.problem.has_hidden else locations

    def predict_inputs(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the output at n scaled inputs of the black box (n x p)."""
        return self.scale.measured(*self.belief.predict(points))

    def forget(self) -> None:
        """Results or visits have changed: what was derived from them is computed again when it is asked for."""
        super().forget()
        self._recommendation: Location | None = None
        self._route: Route | None = None

    @property
    def candidates(self) -> Array:
        """K x p inputs of the last plan, Z; none before the first. `candidate_routes` says which states have them."""
        return self._candidates

    @property
    def recommendation(self) -> Location:
        """Where the expected score is largest, among the points that an episode can reach: a state with the best inputs.

        Where the kernel is learned, less `CAUTION` standard deviations.
        """
        if self._recommendation is None and self.problem.only_described and not self.problem.reaches_everything:
            # Where an episode can get to is not known without the plant's own code; where it was is.
            self._recommendation = self._best_visited()
        if self._recommendation is None:
            with section("recommendation"), one_blas_thread():
                best = best_expected(self.belief, self._space, self.goal, self._caution)
            if self.reach is not None:
                (self._proof,) = self.reach.routes(best[None])
                if self.problem.has_hidden:
                    # Several states have the same inputs: the one that is recommended is where the shown route ends.
                    self._route = self.reach.shortened(self._proof)
                    best = self._route.state
            self._recommendation = tuple(best.tolist())
        return self._recommendation

    @property
    def _caution(self) -> float:
        return CAUTION if self.learner is not None else 0.0

    def _best_visited(self) -> Location:
        """The place that would be recommended among those that the plant has been at, which proves them reachable."""
        start = self.problem.start_state
        visited = list(dict.fromkeys([start, *(move.arrived for move in self.history.made if move.arrived is not None)]))
        scores = _cautious_score(self.belief, self.goal, self._caution).value(np.array(self.seen(visited), dtype=float))
        return visited[int(np.argmax(scores))]

    def _route_made(self, best: Location) -> Route:
        """The moves that led to a place that the plant has been at."""
        for move in self.history.made:
            if move.arrived == best and move.step > 0:
                places = self.history.path(move.episode)[: move.step + 1]
                made = [m for m in self.history.made if m.episode == move.episode and 0 < m.step <= move.step]
                return Route(np.array(places), np.array([m.decision for m in made], dtype=float), move.step)
        return Route(np.array([best]), np.empty((0, len(best))), 0)

    @property
    def route(self) -> Route:
        """A feasible episode that comes to the recommendation in few moves."""
        best = np.array(self.recommendation)
        if self._route is None and self.reach is not None:
            with one_blas_thread():
                self._route = self.reach.shortened(self._proof)
        if self._route is None and self.problem.only_described and not self.problem.reaches_everything:
            self._route = self._route_made(self.recommendation)
        if self._route is None:
            from tcbo_pyomo.planning.continuous.shortest_path import (
                straight_path,  # Whoever only wants the belief needs none.
            )

            dynamics, horizon = self.problem.dynamics, self.problem.horizon
            states, actions = straight_path(dynamics, np.array(self.problem.start_state), best, horizon)
            self._route = Route(states, actions, int((np.abs(states - best).max(axis=1) <= SAME_PLACE).argmax()))
        return self._route

    @property
    def route_moves(self) -> list[dict[str, Any]]:
        """How an episode gets to the recommendation: for each move its step, the actions, and where it leads."""
        return self.problem.route_moves(self.route)

    @property
    def candidate_routes(self) -> tuple[Route, ...]:
        """A feasible episode to each candidate; none where every point of the box can be reached."""
        return self._routes

    def rivals(self, tolerance: float, generator: np.random.Generator) -> list[Location]:
        """The recommendation, and where functions drawn from the posterior are best among reachable points."""
        from tcbo_pyomo.candidates.search.multi_start import global_maxima  # Only a stop asks for it.
        from tcbo_pyomo.surrogate.acquisition import drawn_scores

        samples = drawn_scores(self.belief, self.goal, RIVALS, generator)
        found = global_maxima(samples, self.belief.dimension, self._space, self.belief.measured).points
        best = self.seen([self.recommendation])[0]
        return [tuple(best), *map(tuple, found.tolist())]

    def best_of(self, function: PosteriorSamples) -> float:
        """The best value of one drawn function among the points that an episode can reach, as it is modelled."""
        from tcbo_pyomo.candidates.search.multi_start import global_maxima  # Only simulations ask for it.
        from tcbo_pyomo.surrogate.acquisition import Scored

        scores = Scored(function, self.goal)
        found = global_maxima(scores, self.belief.dimension, self._space, self.belief.measured)
        return float(function.value(found.points)[0, 0])

    def take_as_known(self) -> None:
        """What was learned about the model stays as it is, and the belief is a copy of its own."""
        _ = self.learned, self.belief
        self._belief = self.belief.copy()
        vars(self)["learner"] = None

    def inputs_of(self, rivals: Sequence[Location]) -> Array:
        """They are inputs of the black box already."""
        return np.array(rivals, dtype=float)

    def moments_at(self, locations: Sequence[Location]) -> Moments:
        """Joint mean and covariance of some inputs of the black box."""
        points = self.inputs_of(locations)
        return Moments(self.belief.mean(points), self.belief.covariance(points, points))

    @property
    def _space(self) -> Allowed:
        return self.problem.allowed if self.reach is None else self.reach

    def utility(self, generator: np.random.Generator) -> TrajectoryUtility:
        """U given the history, pending visits included, over a fresh set of candidates."""
        from tcbo_pyomo.candidates.protocol import listed  # Only plans need them.
        from tcbo_pyomo.planning.continuous.utility import TrajectoryUtility

        with section("candidates"):
            self._candidates = listed(self.rule, self.belief, self._space, generator, self.share_spent, self.goal)
            if self.reach is not None:
                # A rule of the user's own may have listed points that it did not get from a search.
                self._routes = self.reach.routes(self._candidates)
                self._candidates = np.array([self.reach.point(route) for route in self._routes])
        objective, noise = self.settings.continuous_objective, self.noise_factor * self.problem.noise
        shared = objective, noise, generator, self.stage
        if self.settings.utility.information == "arrival":
            return TrajectoryUtility(self.design, self._candidates, *shared, goal=self.goal)
        present = self.problem.observed(np.array(self.history.situation().state))
        return TrajectoryUtility(self._departures, self._candidates, *shared, present, self.design, self.goal)

    @property
    def _departures(self) -> ContinuousBelief:
        """The variances of a history that counts the states which were left; it has no means."""
        visits = credited_visits(self.history, self.settings.utility)
        wanted = [(place, self.noise_variance(move) / number) for place, move, number in visits]
        kernel, counted, found = self._left or (None, [], None)
        if found is None or kernel is not self.kernel or counted != wanted[: len(counted)]:
            counted, found = [], self._blank(self.kernel)
            self._take_past(found, values_known=False)
        with section("surrogate"):
            found = found.copy()  # A copy of this knowledge may hold it as well.
            for place, noise in wanted[len(counted) :]:
                found.observe(self.seen([place])[0], None, noise)
        self._left = self.kernel, wanted, found
        return found

    @property
    def stage(self) -> Stage:
        """How much is known: nothing, less than the results of half the budget, or more; past experiments end the first."""
        known, budget = len(self.belief.measured), self.history.moves_of(self.problem.episodes)
        told, budget = known - len(self.history.past), budget * len(self.problem.moments)
        return "blind" if known == 0 else "exploring" if 2 * told < budget else "refining"
