"""Why there is no plan: proven infeasible, or only not found."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import InfeasiblePlan, SolverFailed, TcboError
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective, Passing
from tcbo_pyomo.planning.continuous.round_trip import scaled_end
from tcbo_pyomo.planning.continuous.shortest_path import coasting_path
from tcbo_pyomo.planning.continuous.solve_attempts import Replan
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.nonlinear.programme import TOLERANCE
from tcbo_pyomo.solvers.nonlinear.solver import NonlinearSolution


def explained_failure(replan: Replan) -> TcboError:
    """The error for a situation in which no feasible path was found.

    `InfeasiblePlan` where plain arithmetic or the convex part of the problem proves it; else `SolverFailed`.
    """
    where = _text(replan.problem, replan.here)
    error = _bad_start(replan, where)
    if error is not None:
        return error
    relaxed = replan.compiled.convex_relaxation(replan.bounds)
    x0 = replan.joined(*coasting_path(replan.problem.dynamics, replan.here, replan.left))
    for constraint in replan.problem.rules:
        error = _out_of_reach(replan, constraint, x0, relaxed, where) if constraint.end_point else None
        if error is not None:
            return error
    convex = _solve(replan, DistanceObjective.to(replan.here), x0, relaxed)
    if convex is not None and not convex.feasible and convex.status == "locally infeasible":
        return InfeasiblePlan(
            f"no path from {where} meets the limits of the moves and states; in conflict: {convex.worst}; loosen it"
        )
    tried = (f"{a.status} ({a.refused})" if a.refused else a.status for a in replan.attempts)
    return SolverFailed(
        f"no feasible path from {where} was found in the {replan.left} moves left "
        f"({'; '.join(dict.fromkeys(tried)) or 'nothing to try'}); this is not proven: loosen a constraint, "
        "or allow more targets or iterations"
    )


def _bad_start(replan: Replan, where: str) -> InfeasiblePlan | None:
    """What is already wrong with standing here."""
    standing = EpisodePath(replan.problem.coordinates, replan.problem.points([replan.here, replan.here]), False)
    for constraint in replan.problem.rules:
        for violation in constraint.violations(standing):
            return InfeasiblePlan(f"start {where}: {violation.constraint}: {violation.message}; start elsewhere")
    return None


def _out_of_reach(
    replan: Replan, constraint: TransitionConstraint, x0: Array, relaxed: Bounds, where: str
) -> InfeasiblePlan | None:
    """Whether even the convex part of the problem ends short of the end point."""
    axes, values = scaled_end(replan.problem.coordinates, constraint)
    target, counted = np.zeros((2, len(replan.here)))
    target[axes], counted[axes] = values, 1.0
    nearest = _solve(replan, DistanceObjective(Passing(-1, target, counted)), x0, relaxed)
    if nearest is None or nearest.status != "optimal" or not nearest.feasible:
        return None
    end = replan.compiled.read(nearest.values)[0][-1]
    if np.max(counted * np.abs(end - target)) <= TOLERANCE:
        return None
    wanted = ", ".join(f"{name}={value}" for name, value in constraint.end_point.items())
    return InfeasiblePlan(
        f"end_at: {wanted} cannot be reached from {where} in the {replan.left} moves left; the nearest end is "
        f"{_text(replan.problem, end)}; lengthen the episode or move the end"
    )


def _solve(replan: Replan, objective: DistanceObjective, x0: Array, bounds: Bounds) -> NonlinearSolution | None:
    try:
        return replan.solver.solve(objective, np.clip(x0, bounds.column_lower, bounds.column_upper), bounds)
    except SolverFailed:
        return None


def _text(problem: ContinuousProblem, point: Array) -> str:
    values = problem.points([point])[0]
    return ", ".join(f"{c.name}={v:g}" for c, v in zip(problem.coordinates, values, strict=True))
