"""Steering: leads a continuous plant to where a method without a plan of its own wants it, never by an infeasible move.

Where the action is the move itself and nothing but its size is limited, the move is cut to its limits. Otherwise the
trajectory oracle finds the shortest path under every constraint over the whole rest of the episode, and its first
action is taken; so the end stays within reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.planning.continuous.planner import LOADED
from tcbo_pyomo.planning.continuous.shortest_path import DistanceObjective
from tcbo_pyomo.planning.continuous.trajectory_oracle import TrajectoryOracle
from tcbo_pyomo.planning.continuous.trajectory_plan import TrajectoryPlan
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import Settings

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


class NextPointDistance(DistanceObjective):
    """|x_{h+1} - z|^2: only the next point counts."""

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        """The same over `model.state`."""
        return super().expression(model, list(steps)[:1])

    def _counted(self, points: Array) -> Array:
        counted = np.zeros((len(points), 1))
        counted[:1] = 1.0
        return counted


class Steering:
    """Feasible actions towards a point; remembers the path being followed, which stays feasible."""

    def __init__(self, problem: ContinuousProblem, settings: Settings) -> None:
        self.dynamics = problem.dynamics
        lower, upper = self.dynamics.actions.bounds()
        may_stay = bool((lower <= 0.0).all() and (upper >= 0.0).all())
        hindered = bool(problem.rules) or not getattr(self.dynamics, "is_free_move", False) or not may_stay
        self.oracle: TrajectoryOracle | None = problem.planner(settings.planner).oracle if hindered else None
        self.followed: TrajectoryPlan | None = None

    def towards(self, target: Array, situation: Situation) -> tuple[float, ...]:
        """The first action of the shortest path to a scaled point (d)."""
        return self._action(target, DistanceObjective(target), situation)

    def next_at(self, target: Array, situation: Situation) -> tuple[float, ...]:
        """The action that leads to a scaled point (d), or as near as the rest of the episode allows."""
        return self._action(target, NextPointDistance(target), situation)

    def _action(self, target: Array, objective: DistanceObjective, situation: Situation) -> tuple[float, ...]:
        path = np.array(situation.path, dtype=float)
        if self.oracle is None:
            return tuple(self.dynamics.actions.clip(target - path[-1]).tolist())
        made = np.array(situation.decisions, dtype=float)
        self.followed = self.oracle.best_path(objective, path, made, target[None, :], self.followed)
        return tuple(self.followed.actions[situation.step].tolist())

    def state(self) -> list[float] | None:
        """What a loaded campaign needs to steer the same: the path being followed, as all columns of its programme."""
        return None if self.followed is None else self.followed.columns.tolist()

    def load(self, state: list[float] | None) -> None:
        """Take over what `state` returned."""
        if state is not None and self.oracle is not None:
            columns = np.array(state)
            self.followed = TrajectoryPlan(*self.oracle.compiled.read(columns), math.nan, LOADED, columns)
