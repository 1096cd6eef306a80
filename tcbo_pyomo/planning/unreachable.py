"""Why there is no plan: proven infeasible, or only not found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tcbo_pyomo.coordinates import Array, coordinate_index, physical
from tcbo_pyomo.errors import InfeasiblePlan, SolverFailed, TcboError
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.planning.shortest_path import DistanceObjective, coasting_path
from tcbo_pyomo.planning.trajectory_plan import SolveRecord
from tcbo_pyomo.solvers.linear_programme import Bounds
from tcbo_pyomo.solvers.nonlinear_programme import TOLERANCE
from tcbo_pyomo.solvers.nonlinear_solution import NonlinearSolution

if TYPE_CHECKING:
    from tcbo_pyomo.planning.trajectory_oracle import TrajectoryOracle


def explained_failure(
    oracle: TrajectoryOracle, path: Array, bounds: Bounds, attempts: list[SolveRecord]
) -> TcboError:
    """The error for a situation in which no feasible path was found.

    `InfeasiblePlan` where plain arithmetic or the convex part of the problem proves it; else `SolverFailed`.
    """
    present = physical(oracle.coordinates, path[-1:])
    where = ", ".join(f"{c.name}={v:g}" for c, v in zip(oracle.coordinates, present[0], strict=True))
    for constraint in oracle.constraints:
        for violation in constraint.violations(oracle.coordinates, np.vstack([present, present]), False):
            return InfeasiblePlan(
                f"start {where}: {violation.constraint}: {violation.message}; start elsewhere"
            )
    left = oracle.compiled.steps - len(path) + 1
    states, actions = coasting_path(oracle.dynamics, path[-1], left)
    relaxed = oracle.compiled.convex_relaxation(bounds)
    x0 = oracle.compiled.vector(
        np.vstack([path, states[1:]]), np.vstack([_past_actions(oracle, bounds, left), actions])
    )
    for constraint in oracle.constraints:
        if isinstance(constraint, EndAt):
            target, weights = _end(oracle, constraint)
            nearest = _solve(oracle, DistanceObjective(target, weights, last_only=True), x0, relaxed)
            if nearest is None or nearest.status != "optimal":
                continue
            reached = oracle.compiled.read(nearest.values)[0][-1]
            if np.max(weights * np.abs(reached - target)) > TOLERANCE:
                end = physical(oracle.coordinates, reached[None])[0]
                text = ", ".join(
                    f"{name}={end[coordinate_index(oracle.coordinates, name)]:g}" for name in constraint.point
                )
                wanted = ", ".join(f"{name}={value}" for name, value in constraint.point.items())
                return InfeasiblePlan(
                    f"end_at: {wanted} is out of reach from {where} in the {left} moves left; the nearest "
                    f"end is {text}; "
                    "lengthen the episode or move the end"
                )
    convex = _solve(oracle, DistanceObjective(path[-1]), x0, relaxed)
    if convex is not None and not convex.feasible and convex.status == "locally infeasible":
        return InfeasiblePlan(
            f"no path from {where} meets the limits of the moves and states; in conflict: {convex.worst}; "
            "loosen it"
        )
    tried = "; ".join(dict.fromkeys(f"{a.status}{f' at {a.worst}' if a.worst else ''}" for a in attempts))
    return SolverFailed(
        f"no feasible path from {where} was found in the {left} moves left ({tried or 'no attempt'}); not "
        "proven "
        "infeasible: loosen a constraint, or give further targets or iterations"
    )


def _past_actions(oracle: TrajectoryOracle, bounds: Bounds, left: int) -> Array:
    return oracle.compiled.read(bounds.column_lower)[1][: oracle.compiled.steps - left]


def _end(oracle: TrajectoryOracle, constraint: EndAt) -> tuple[Array, Array]:
    target, weights = np.zeros(len(oracle.coordinates)), np.zeros(len(oracle.coordinates))
    for name, value in constraint.point.items():
        axis = coordinate_index(oracle.coordinates, name)
        coordinate = oracle.coordinates[axis]
        target[axis], weights[axis] = (
            (coordinate.value_of(value) - coordinate.lower) / coordinate.width - 0.5,
            1.0,
        )
    return target, weights


def _solve(
    oracle: TrajectoryOracle, objective: DistanceObjective, x0: Array, bounds: Bounds
) -> NonlinearSolution | None:
    try:
        return oracle.solver.solve(objective, np.clip(x0, bounds.column_lower, bounds.column_upper), *bounds)
    except SolverFailed:
        return None
