"""A cloud of reachable points: the states of many feasible episodes, spread over what the plant can reach.

Where the action is the move itself, the episodes lead to points spread over the box. Elsewhere they are simulated action
sequences, and from those that lead farthest the trajectory programme goes on: to the ends of every coordinate, and towards
parts of the box that no simulation came close to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.planning.continuous.dead_ends import explained_failure
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective, Passing
from tcbo_pyomo.planning.continuous.shortest_path import coasting_path
from tcbo_pyomo.planning.continuous.simulated_episodes import Episodes, wanted_actions
from tcbo_pyomo.plant.route import Route

SIMULATED_STATES, FEWEST, MOST = 16384, 128, 1024
"""How many states are simulated, and how many episodes that makes at least and at most."""
POINTS = 4096
"""Size of the cloud; of points closer together than its resolution only one is kept."""
FINEST, COARSER = 0.004, 1.25
"""The first resolution tried, as a share of each axis, and by how much the next is coarser."""
TOO_FEW = 16
"""Episodes below which the programme is asked for more."""
SOLVED_TARGETS = 24
"""Points of the box that the programme tries to come close to."""
UNCOVERED = 0.03
"""Distance from the cloud, as a share of each axis, from which on a part of the box is worth a solve."""


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points with the episodes that pass them.

    Attributes
    ----------
    states, actions
        T x H + 1 x d scaled states and T x H x q actions of the episodes.
    episode, step
        For each point the episode that passes it, and after how many moves.
    points
        What the black box sees of each, P x p scaled.
    resolution
        Points closer together than this share of each axis are one.
    """

    states: Array
    actions: Array
    episode: Integers
    step: Integers
    points: Array
    resolution: float

    def route(self, point: int) -> Route:
        """The episode behind a point."""
        episode = self.episode[point]
        return Route(self.states[episode], self.actions[episode], int(self.step[point]))


def build_cloud(episodes: Episodes) -> Cloud:
    """The cloud of a plant: always the same one, whatever was measured. `InfeasiblePlan` where no episode is feasible."""
    generator = np.random.default_rng(0)
    if episodes.has_ways:
        found = [way for node in episodes.roadmap.nodes if (way := episodes.way(node))]
    else:
        count = int(np.clip(SIMULATED_STATES // episodes.horizon, FEWEST, MOST))
        states, actions = episodes.guided(wanted_actions(episodes, count, generator), generator)
        ok = episodes.feasible(states, actions)
        found = [Route(*episode, episodes.horizon) for episode in zip(states[ok], actions[ok], strict=True)]
    if len(found) < TOO_FEW:
        found += _solved_from_rest(episodes)
    if not found:
        raise explained_failure(episodes.replan)
    if not episodes.has_ways:
        found += _farther(episodes, found)
    return thinned(episodes, found)


def thinned(episodes: Episodes, routes: list[Route]) -> Cloud:
    """All states of some episodes after the first move, without those that have a neighbour."""
    states, actions = np.array([r.states for r in routes]), np.array([r.actions for r in routes])
    first = 0 if episodes.problem.measure_start else 1
    episode, step = (a.ravel() for a in np.indices(states.shape[:2])[:, :, first:])
    points, resolution = episodes.problem.observed(states[episode, step]), FINEST
    while True:
        cells = np.floor((points + 0.5) / resolution).astype(np.int64)
        kept = np.sort(np.unique(cells, axis=0, return_index=True)[1])
        if len(kept) <= POINTS:
            return Cloud(states, actions, episode[kept], step[kept], points[kept], resolution)
        resolution *= COARSER


def _solved_from_rest(episodes: Episodes) -> list[Route]:
    """Episodes that the programme finds from a plant that is left alone, towards points spread over the box."""
    start, middle = episodes.start, max(1, episodes.horizon // 2)
    rest = Route(*coasting_path(episodes.dynamics, start, episodes.horizon), middle)
    targets = episodes.spread_inputs(SOLVED_TARGETS)
    solves = (episodes.solved(DistanceObjective(Passing(middle - 1, z)), rest, middle) for z in targets)
    return [route for route in solves if route is not None]


def _farther(episodes: Episodes, found: list[Route]) -> list[Route]:
    """Episodes to the ends of every input of the black box, and to parts of their box that are far from those found."""
    cloud, more = thinned(episodes, found), []
    points, axes = cloud.points, np.eye(len(episodes.problem.input_columns))
    for axis, sign in ((axis, sign) for axis in axes for sign in (-0.5, 0.5)):
        farthest = cloud.route(int((sign * points @ axis).argmax()))
        for step in dict.fromkeys((farthest.step, episodes.horizon)):
            if step > 0:
                objective = DistanceObjective(Passing(step - 1, sign * axis, axis))
                more.append(episodes.solved(objective, farthest, step))
    tree = cKDTree(points)
    for target in episodes.spread_inputs(SOLVED_TARGETS):
        distance, nearest = tree.query(target, p=np.inf)
        begun = cloud.route(int(nearest))
        if distance > UNCOVERED and begun.step > 0:
            more.append(episodes.solved(DistanceObjective(Passing(begun.step - 1, target)), begun, begun.step))
    return [route for route in more if route is not None]
