"""Steering: leads a continuous plant to where a method without a plan of its own wants it, never by an infeasible move.

Where the action is the move itself and nothing but its size is limited, the move is cut to its limits. Otherwise the
trajectory oracle finds the shortest path under every constraint over the whole rest of the episode, and its first
action is taken; so the end stays within reach.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tcbo_pyomo.candidates.upper_confidence import ConfidenceBounds
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.planning.continuous.best_next_point import best_next_point
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective, Passing
from tcbo_pyomo.planning.continuous.one_step_moves import Reach
from tcbo_pyomo.planning.continuous.planner import LOADED
from tcbo_pyomo.planning.continuous.trajectory_oracle import TrajectoryOracle
from tcbo_pyomo.planning.continuous.trajectory_plan import TrajectoryPlan
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import PlannerSettings
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal


class Steering:
    """Feasible actions towards a point; remembers the path being followed, which stays feasible."""

    def __init__(self, problem: ContinuousProblem, settings: PlannerSettings) -> None:
        self.problem, self.dynamics = problem, problem.dynamics
        lower, upper = self.dynamics.actions.bounds()
        may_stay = bool((lower <= 0.0).all() and (upper >= 0.0).all())
        hindered = bool(problem.rules) or not problem.moves_freely or not may_stay
        self.oracle = TrajectoryOracle(problem, settings.nonlinear) if hindered else None
        self.followed: TrajectoryPlan | None = None

    def random(self, situation: Situation, generator: np.random.Generator) -> tuple[float, ...]:
        """An action uniform among those within their limits whose move obeys every rule.

        Where the rest of the episode could not be completed from there, the one to the nearest point from which it can.
        """
        reach = Reach(self.problem, situation)
        return self.next_at(reach.inputs(reach.draw(1, generator))[0], situation)

    def highest_bound(
        self,
        belief: ContinuousBelief,
        width: float,
        situation: Situation,
        generator: np.random.Generator,
        goal: Goal = MAXIMISE,
    ) -> tuple[float, ...]:
        """The action that leads to the largest mean + width sd, or another goal's optimistic score, within one move."""
        surface = ConfidenceBounds(belief, np.array([width]), goal)
        point, _ = best_next_point(surface, Reach(self.problem, situation), generator)
        return self.next_at(point, situation)

    def towards(self, target: Array, situation: Situation) -> tuple[float, ...]:
        """The first action of the shortest path to where the black box has some scaled inputs (p)."""
        return self._action(target, DistanceObjective.to(target), situation)

    def next_at(self, target: Array, situation: Situation) -> tuple[float, ...]:
        """The action that leads to some scaled inputs (p), or as near as the rest of the episode allows."""
        return self._action(target, DistanceObjective(Passing(0, target)), situation)

    def _action(self, target: Array, objective: PathObjective, situation: Situation) -> tuple[float, ...]:
        path = np.array(situation.path, dtype=float)
        if self.oracle is None:
            return tuple(self.dynamics.actions.clip(target - path[-1]).tolist())
        made = np.array(situation.decisions, dtype=float)
        self.followed = self.oracle.best_path(objective, path, made, target[None, :], self.followed)
        return tuple(self.followed.actions[situation.step].tolist())

    def record(self) -> dict[str, Any] | None:
        """How the path being followed was found, as the planner keeps it of its own; None where the move was only cut."""
        if self.oracle is None or self.followed is None:
            return None
        return {"solver": self.oracle.solver.name, "trajectories": [self.followed.facts()]}

    def state(self) -> list[float] | None:
        """What a loaded campaign needs to steer the same: the path being followed, as all columns of its programme."""
        return None if self.followed is None else self.followed.columns.tolist()

    def load(self, state: list[float] | None) -> None:
        """Take over what `state` returned."""
        if state is not None and self.oracle is not None:
            columns = np.array(state)
            self.followed = TrajectoryPlan(*self.oracle.compiled.read(columns), math.nan, LOADED, columns)
