"""Whole episodes of a continuous plant, many at once: simulated from their actions, and checked against every limit."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.stats import qmc

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective
from tcbo_pyomo.planning.continuous.roadmap import Roadmap
from tcbo_pyomo.planning.continuous.solve_attempts import Replan
from tcbo_pyomo.planning.continuous.trajectory_oracle import TrajectoryOracle
from tcbo_pyomo.plant.route import Route
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import NonlinearSolverSettings
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective
from tcbo_pyomo.solvers.nonlinear.programme import TOLERANCE
from tcbo_pyomo.solvers.nonlinear.step_simulator import next_states

OTHER_ACTIONS = 6
"""How many random actions are tried where the wanted one would leave the box."""
GOOD_PART = 0.005
"""Share of the box that free moves must reach for a search in the box; else the points are too few to be met."""
MAPPED = 128
"""Points that a roadmap joins."""
KEPT_ATTEMPTS = 8
"""Solves that are remembered, for the message where no episode is found."""
ROUNDING = 1e-9
"""By how much an action may pass its limits."""


class Episodes:
    """Episodes of one plant.

    The trajectory programme behind them is solved with the default solver, whatever the plans are made with: where a plant
    can get to does not depend on who plans.
    """

    def __init__(self, problem: ContinuousProblem) -> None:
        self.problem, self.dynamics, self.horizon = problem, problem.dynamics, problem.horizon
        self.start = np.asarray(problem.start_state, dtype=float)
        self.lower, self.upper = self.dynamics.actions.bounds()

    @cached_property
    def replan(self) -> Replan:
        """The trajectory programme at the start of an episode."""
        oracle = TrajectoryOracle(self.problem, NonlinearSolverSettings())
        nothing = np.empty((0, len(self.lower)))
        return Replan(self.problem, oracle.compiled, oracle.solver, self.start[None, :], nothing)

    @cached_property
    def roadmap(self) -> Roadmap:
        """Ways to points, where the action is the move itself; with shorter moves where a rule forbids long ones."""
        scales = [finer for finer in (1, 2, 4) if finer <= self.problem.horizon]
        maps = (Roadmap(self.problem, self.spread(MAPPED), finer) for finer in scales)
        best = next(maps)
        for other in maps:
            if best.coverage >= 0.5:
                break
            best = max(best, other, key=lambda roadmap: roadmap.coverage)
        return best

    @cached_property
    def has_ways(self) -> bool:
        """Whether points are sought in the box and ways laid to them: free moves that reach a good part of it."""
        if not self.problem.moves_freely:
            return False
        points = np.random.default_rng(0).uniform(-0.5, 0.5, (4096, len(self.start)))
        return bool(self.within_range(points).mean() >= GOOD_PART)

    def within_range(self, points: Array) -> Mask:
        """Which points every rule allows and, in a straight line, the moves of an episode are enough for."""
        allowed = self.problem.allowed(points)
        if not self._may_stay:
            return allowed
        moves = (points - self.start) / self.horizon
        return allowed & (np.abs(self.dynamics.actions.clip(moves) - moves) <= ROUNDING).all(axis=1)

    @cached_property
    def _may_stay(self) -> bool:
        """Whether no move at all is an action."""
        nothing = np.zeros((1, len(self.start)))
        return np.array_equal(self.dynamics.actions.clip(nothing), nothing)

    def spread(self, count: int) -> Array:
        """Points of the box that every rule allows: corners, as far as there are not too many, and evenly spread ones."""
        points = _spread_around(self.start, count)
        return points[self.problem.allowed(points)][:count]

    def spread_inputs(self, count: int) -> Array:
        """Inputs of the black box spread over their ranges: as `spread` where every coordinate is one."""
        if not self.problem.has_hidden:
            return self.spread(count)
        return _spread_around(self.problem.observed(self.start), count)[:count]

    def way(self, target: Array) -> Route | None:
        """A feasible episode to a point that needs no solver, where the action is the move itself; None if none is found."""
        states = self.roadmap.way(target)
        if states is None:
            return None
        actions = np.diff(states, axis=0)
        step = int(np.abs(states - target).max(axis=1).argmin())
        return Route(states, actions, step) if self.feasible(states[None], actions[None])[0] else None

    def simulate(self, actions: Array) -> Array:
        """The states of n episodes (n x H + 1 x d) under their actions (n x H x q).

        NaN from where they leave the box or break a limit of a user's model on.
        """
        states = np.empty((len(actions), self.horizon + 1, len(self.start)))
        states[:, 0] = self.start
        for step in range(self.horizon):
            states[:, step + 1] = self._within(next_states(self.dynamics, states[:, step], actions[:, step], True))
        return states

    def guided(self, wanted: Array, generator: np.random.Generator) -> tuple[Array, Array]:
        """States and actions of the episodes that stay in the box, with other actions where the wanted ones would leave it."""
        actions, here, states = self._clipped(wanted), np.tile(self.start, (len(wanted), 1)), []
        for step in range(self.horizon):
            after = self._within(next_states(self.dynamics, here, actions[:, step], True))
            for turn in range(OTHER_ACTIONS):
                lost = np.flatnonzero(np.isnan(after).any(axis=1))
                if len(lost) == 0:
                    break
                drawn = generator.uniform(self.lower, self.upper, (len(lost), len(self.lower)))
                mirrored = self.lower + self.upper - actions[lost, step]
                actions[lost, step] = self.dynamics.actions.clip(mirrored if turn == 0 else drawn)
                after[lost] = self._within(next_states(self.dynamics, here[lost], actions[lost, step], True))
            states.append(after)
            here = after
        path = np.stack([np.tile(self.start, (len(wanted), 1)), *states], axis=1)
        whole = ~np.isnan(path).any(axis=(1, 2))
        return path[whole], actions[whole]

    def feasible(self, states: Array, actions: Array) -> Mask:
        """Which of n episodes keep the box, the limits of the actions and every rule."""
        ok: Mask = np.asarray(~np.isnan(states).any(axis=(1, 2)))
        size = np.maximum(1.0, np.abs(self.upper - self.lower))
        ok &= (np.abs(self._clipped(actions) - actions) <= ROUNDING * size).all(axis=(1, 2))
        for episode in np.flatnonzero(ok) if self.problem.rules else ():
            ok[episode] = self._obeys(states[episode], actions[episode])
        return ok

    def route(self, columns: Array, step: int) -> Route | None:
        """The episode that columns of the programme stand for, simulated anew; None where that breaks a limit."""
        _, planned = self.replan.compiled.read(columns)
        actions = self.dynamics.actions.clip(planned)
        states = self.simulate(actions[None])[0]
        if np.isnan(states).any():
            return None
        return Route(states, actions, step) if self._obeys(states, actions, columns) else None

    def solved(self, objective: PathObjective, begun: Route, step: int) -> Route | None:
        """The episode that the programme finds for an objective from another one; None where it finds none."""
        del self.replan.attempts[:-KEPT_ATTEMPTS]
        columns = self.replan.attempt(objective, self.replan.joined(begun.states, begun.actions), "reachable point")
        return None if columns is None else self.route(columns, step)

    def through(self, point: Array, step: int, begun: Route) -> Route | None:
        """An episode that has some scaled inputs after so many moves, and is near otherwise; None where none is found."""
        bounds = self.replan.bounds
        columns = self.replan.compiled.terms.columns[step - 1]
        lower, upper = bounds.column_lower.copy(), bounds.column_upper.copy()
        lower[columns], upper[columns] = point - ROUNDING, point + ROUNDING
        x0 = np.clip(self.replan.joined(begun.states, begun.actions), lower, upper)
        held = bounds._replace(column_lower=lower, column_upper=upper)
        try:
            solution = self.replan.solver.solve(DistanceObjective.to(point), x0, held)
        except SolverFailed:
            return None
        route = self.route(solution.values, step) if solution.feasible else None
        if route is None:
            return None
        return route if np.abs(self.problem.observed(route.state) - point).max() <= TOLERANCE else None

    def _obeys(self, states: Array, actions: Array, columns: Array | None = None) -> bool:
        """Whether an episode keeps every rule: by plain arithmetic where a rule has it, else by its compiled rows.

        `columns` may hold values of the variables that rules have added; better ones than those derived from the states.
        """
        path = EpisodePath(self.problem.coordinates, self.problem.points(states), True)
        if any(rule.violations(path) for rule in self.problem.rules):
            return False
        if all(type(rule).violations is not TransitionConstraint.violations for rule in self.problem.rules):
            return True
        tried = [self.replan.joined(states, actions)]
        if columns is not None:
            tried.append(np.concatenate([states.ravel(), actions.ravel(), columns[states.size + actions.size :]]))
        return any(not self.replan.refusal(self.replan.within_bounds(values))[1] for values in tried)

    def _clipped(self, actions: Array) -> Array:
        """The allowed actions nearest to those of n episodes, n x H x q."""
        return self.dynamics.actions.clip(actions.reshape(-1, actions.shape[-1])).reshape(actions.shape)

    def _within(self, states: Array) -> Array:
        """States cut to the box where they miss it by no more than a plan may; NaN where they miss it by more."""
        inside = (np.abs(states) <= 0.5 + TOLERANCE).all(axis=1, keepdims=True)
        return np.where(inside, np.clip(states, -0.5, 0.5), np.nan)


def _spread_around(start: Array, count: int) -> Array:
    """Corners of the box, as far as there are not too many, and so many evenly spread points."""
    dimension, cornered = len(start), min(len(start), 4)
    corners = np.array(np.meshgrid(*[[-0.5, 0.5]] * cornered)).reshape(cornered, -1).T
    corners = np.hstack([corners, np.tile(start[cornered:], (len(corners), 1))])
    return np.vstack([corners, qmc.Halton(dimension, scramble=False).random(count + 1)[1:] - 0.5])


def wanted_actions(episodes: Episodes, count: int, generator: np.random.Generator) -> Array:
    """Action sequences that spread a plant over what it can reach, count x H x q.

    Held extremes, switches between extremes (which lead to the edges), and random levels held for random times.
    """
    horizon, number = episodes.horizon, len(episodes.lower)
    pieces = generator.integers(1, 1 + min(6, horizon), count)
    pieces[: count // 8] = 1
    times = np.sort(generator.integers(1, horizon + 1, (count, 6)), axis=1)
    times[np.arange(6)[None, :] >= (pieces - 1)[:, None]] = horizon
    piece = (np.arange(horizon)[None, :, None] >= times[:, None, :]).sum(axis=2)
    levels = generator.random((count, 7, number))
    extreme = generator.random((count, 1, 1)) < 0.5
    levels = np.where(extreme, levels.round(), levels)
    chosen = np.take_along_axis(levels, piece[:, :, None], axis=1)
    return np.asarray(episodes.lower + chosen * (episodes.upper - episodes.lower))
