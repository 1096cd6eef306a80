"""Warm starts of a plan: feasible paths to the points where the linearised utility has its modes.

"For shorter time horizons, the path will reach whichever mode is closest, and for large enough horizons, the
sum will be maximized by reaching the larger of the two modes" (appendix "Practical Planning for Continuous
MDPs").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective
from tcbo_pyomo.planning.continuous.round_trip import RoundTrips
from tcbo_pyomo.planning.continuous.shortest_path import coasting_path, detours, straight_path
from tcbo_pyomo.planning.continuous.solve_attempts import Replan
from tcbo_pyomo.planning.continuous.trajectory_plan import TrajectoryPlan
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective


class Candidate(NamedTuple):
    """A feasible path: all columns, its objective, and where it came from."""

    values: Array
    value: float
    origin: str


def warm_starts(
    replan: Replan, objective: PathObjective, targets: Array, previous: TrajectoryPlan | None
) -> list[Candidate]:
    """Feasible paths, the best first.

    Tried are the rest of the previous plan and, for each target, the straight path, or the round trip where the plant
    must end somewhere, then detours where something may be in the way. Where none of these is feasible the path is sought
    that minimises the distance over the compiled constraints: for every target if the action is not the move itself, else
    only while nothing feasible is known, since it takes as long as the plan.
    """
    found: list[Candidate] = []
    dynamics, trips, free = replan.problem.dynamics, RoundTrips(replan.problem), replan.problem.moves_freely

    def offer(values: Array, origin: str) -> bool:
        values = replan.within_bounds(values)
        if replan.refusal(values)[1]:
            return False
        value = replan.value(objective, values)
        if np.isfinite(value) and not any(np.array_equal(values, other.values) for other in found):
            found.append(Candidate(values, value, origin))
        return True

    def offer_unsolved(target: Array, origin: str) -> bool:
        if not free:
            return False
        if trips.needed:
            way = trips.trip(replan.here, target, replan.left)
            return way is not None and offer(replan.joined(way, np.diff(way, axis=0)), f"there and back, {origin}")
        if offer(replan.joined(*straight_path(dynamics, replan.here, target, replan.left)), origin):
            return True
        if replan.compiled.convex:
            return False
        ways = detours(dynamics, replan.here, target, replan.left)
        return any(offer(replan.joined(way, np.diff(way, axis=0)), f"detour, {origin}") for way in ways)

    if previous is not None and len(previous.columns) == len(replan.bounds.column_lower):
        offer(previous.columns, "previous plan")
    last = replan.actions[-1] if replan.made else None
    coasting = replan.joined(*coasting_path(dynamics, replan.here, replan.left, last))
    for number, point in enumerate(dict.fromkeys(map(tuple, targets.tolist()))):
        target, origin = np.array(point), f"shortest path to target {number}"
        if not offer_unsolved(target, origin) and not (found and free):
            values = replan.attempt(DistanceObjective.to(target), coasting, f"{origin} itself")
            if values is not None:
                offer(values, origin)
    if not found:
        offer(coasting, "coasting")
    return sorted(found, key=lambda candidate: candidate.value)
