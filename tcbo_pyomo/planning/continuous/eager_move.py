"""Which move of a planned path comes first (ours): as `planning/finite/eager_move.py`, on continuous plants.

A planned path hurries to its destination, the place where most can be learned about the pair z, z', and what it measures on
the way is left to chance; the destination itself changes with every new set of candidates. So the destination only bounds the
next move. If the plan arrives after k moves, every move after which the plant can still arrive after k + 1 puts the plan off
by at most one, and of these the eager one is made. It depends on what is known:

- blind, before the first result: no place is better than another, and the move is the one that takes most off the
  uncertainty of the whole box, wherever the plan was going;
- exploring, until results of half the budget are in: the move with the largest upper confidence bound, mean + 2 sd (for
  another goal its optimistic score). What may be high is looked at on the way;
- refining, afterwards: the move that takes most off the variance of f(z) - f(z').

Where the action is the move itself and has limits of its own only, these moves are a box, and the best point in it is sought.
Elsewhere the point is sought among all single moves, and the rest of the path is laid by the trajectory programme: as near to
this point as its rules and the destination allow.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import maximise_many
from tcbo_pyomo.candidates.search.start_points import Functions
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.planning.continuous.best_next_point import STARTS_PER_ACTION, best_next_point
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective, Passing
from tcbo_pyomo.planning.continuous.one_step_moves import NARROWEST, Reach
from tcbo_pyomo.planning.continuous.trajectory_oracle import TrajectoryOracle
from tcbo_pyomo.planning.continuous.trajectory_plan import TrajectoryPlan
from tcbo_pyomo.planning.continuous.utility import PathTangent, Stage, TrajectoryUtility
from tcbo_pyomo.planning.finite.eager_move import WIDTH
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.solvers.nonlinear.programme import TOLERANCE
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds, InformationGain, gain_about_everything
from tcbo_pyomo.surrogate.goal import Goal

ARRIVED = 0.99
"""Share of the most that one point of the path teaches, from which on the path has arrived."""
FIRMNESS = 1e3
"""How much more a miss of the destination weighs than one of the next point: at most a thousandth of a move is missed."""

CHOICES: dict[Stage, str] = {
    "blind": "no result is known yet: the move that reduces the overall uncertainty most is taken",
    "exploring": "among the moves that delay the plan by at most one step, the one to the {bound} is taken",
    "refining": "among the moves that delay the plan by at most one step, the most informative about the pair is taken",
}
"""What is wanted of the next point at each stage, in words; `bound` is the goal's."""


class EagerPaths:
    """Plans of one path whose first move is the eager one."""

    def __init__(self, problem: ContinuousProblem, oracle: TrajectoryOracle) -> None:
        self.problem, self.oracle = problem, oracle
        free = problem.moves_freely and isinstance(problem.dynamics.actions, BoxActions)
        self._is_box = free and not problem.rules
        self._least, self._most = problem.dynamics.actions.bounds()
        self._both_ways = bool((self._least < 0.0).all() and (self._most > 0.0).all())

    @timed("first move")
    def begin(
        self,
        plan: TrajectoryPlan,
        tangent: PathTangent,
        utility: TrajectoryUtility,
        situation: Situation,
        generator: np.random.Generator,
    ) -> TrajectoryPlan:
        """The plan with the eager move first; the plan itself where no other beginning is better."""
        surface = wanted(utility, tangent)
        ahead = self.problem.observed(plan.states[situation.step + 1 :])
        arrival = _arrival(ahead, utility, tangent)
        begin = self._in_a_box if self._is_box else self._by_programme
        changed = begin(plan, surface, arrival, utility.stage == "blind", situation, generator)
        points = self.problem.observed(changed.states[situation.step + 1 :])
        before, after = surface.value(np.vstack([ahead[0], points[0]]))[:, 0]
        if after <= before:
            return plan
        return replace(changed, value=tangent.objective.value(self.oracle.measured_points(changed, situation.step)))

    def _in_a_box(
        self,
        plan: TrajectoryPlan,
        surface: Functions,
        arrival: int,
        anywhere: bool,
        situation: Situation,
        generator: np.random.Generator,
    ) -> TrajectoryPlan:
        step, reach = situation.step, Reach(self.problem, situation)
        rest = plan.states[step + 1 :]
        destination, moves = rest[arrival], arrival + 1
        lower, upper = reach.state + reach.lower, reach.state + reach.upper
        if not (anywhere and self._both_ways):
            within = self._bounds(lower, upper, destination, moves)
            if (within[0] > within[1] + TOLERANCE).any():
                # A plant that may not stand still cannot come later.
                moves = arrival
                within = self._bounds(lower, upper, destination, moves)
            # A solver's path may miss its limits by a rounding; the next move does not.
            lower, upper = np.minimum(within[0], upper), np.maximum(within[1], lower)
        upper = np.maximum(upper, lower + NARROWEST)
        starts = generator.uniform(lower, upper, (1, STARTS_PER_ACTION * len(lower), len(lower)))
        first = maximise_many(surface, lower, upper, starts).points[0]
        onward = np.linspace(first, destination, max(moves, self._moves_needed(destination - first)) + 1)
        states = np.vstack([plan.states[: step + 1], np.vstack([onward, rest[arrival + 1 :]])[: len(rest)]])
        actions = self.problem.dynamics.actions.clip(np.diff(states[step:], axis=0))
        actions = np.vstack([plan.actions[:step], actions])
        return replace(plan, states=states, actions=actions, columns=self.oracle.compiled.vector(states, actions))

    def _bounds(self, lower: Array, upper: Array, destination: Array, moves: int) -> tuple[Array, Array]:
        """Where the next point may lie when so many moves after it the plant is to be at a destination."""
        return np.maximum(lower, destination - moves * self._most), np.minimum(upper, destination - moves * self._least)

    def _moves_needed(self, way: Array) -> int:
        """How many moves a way takes at least; none where no number of them is enough."""
        if not self._both_ways:
            return 0
        return ceil(float((way / np.where(way > 0.0, self._most, self._least)).max()) - TOLERANCE)

    def _by_programme(
        self,
        plan: TrajectoryPlan,
        surface: Functions,
        arrival: int,
        anywhere: bool,
        situation: Situation,
        generator: np.random.Generator,
    ) -> TrajectoryPlan:
        ahead = self.problem.observed(plan.states[situation.step + 1 :])
        point, value = best_next_point(surface, Reach(self.problem, situation), generator)
        if value <= surface.value(ahead[:1])[0, 0]:
            return plan
        passing = [Passing(0, point)]
        if not anywhere and arrival + 1 < len(ahead):
            passing.append(Passing(arrival + 1, ahead[arrival], FIRMNESS))
        past = np.array(situation.path, dtype=float), np.array(situation.decisions, dtype=float)
        nowhere = np.empty((0, len(point)))
        changed = self.oracle.best_path(DistanceObjective(*passing), *past, nowhere, plan)
        record = replace(plan.record, solves=(*plan.record.solves, *changed.record.solves))
        return replace(changed, record=record)


def choice_in_words(utility: TrajectoryUtility, goal: Goal, unit: str) -> str:
    """How the next point was chosen."""
    return CHOICES[utility.stage].format(bound=goal.bound_words(WIDTH, unit))


def wanted(utility: TrajectoryUtility, tangent: PathTangent) -> Functions:
    """What the next point is to have much of."""
    if utility.stage == "blind":
        return gain_about_everything(utility.measured, utility.noise_variance)
    if utility.stage == "exploring":
        return ConfidenceBounds(utility.measured, np.array([WIDTH]), utility.goal)
    covariance = utility.measured.covariance_with(tangent.first, tangent.second)
    return InformationGain(utility.measured, covariance, utility.noise_variance)


def _arrival(ahead: Array, utility: TrajectoryUtility, tangent: PathTangent) -> int:
    """Position of the first point to come from which on the path is at its destination."""
    teaches = utility.surrogate.covariance_with(tangent.first, tangent.second).value(ahead)[:, 0] ** 2
    return int(np.flatnonzero(teaches >= ARRIVED * teaches.max())[0])
