"""One plan in the making: what is given at this moment, and every attempt to solve for the rest."""

from __future__ import annotations

import time

import numpy as np

from tcbo_pyomo.errors import SolverFailed, TcboError
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.planning.continuous.measured_path import where_counted
from tcbo_pyomo.planning.continuous.trajectory_plan import SolveRecord
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective
from tcbo_pyomo.solvers.nonlinear.programme import TOLERANCE
from tcbo_pyomo.solvers.nonlinear.solver import NonlinearSolver


class Replan:
    """The situation a plan starts from.

    Parameters
    ----------
    problem
        The plant and its rules.
    compiled, solver
        The compiled trajectory and its solver.
    path, actions
        k + 1 x d scaled states and k x q actions of this episode so far.

    Attributes
    ----------
    bounds
        The compiled model's bounds with the past in them.
    made, left
        Moves made, and moves to come.
    attempts
        One record per solve.
    """

    def __init__(
        self,
        problem: ContinuousProblem,
        compiled: CompiledTrajectory,
        solver: NonlinearSolver,
        path: Array,
        actions: Array,
    ) -> None:
        self.problem, self.compiled, self.solver, self.path, self.actions = problem, compiled, solver, path, actions
        self.bounds = compiled.bounds(path, actions)
        self.made, self.left = len(actions), compiled.steps - len(actions)
        self.attempts: list[SolveRecord] = []

    @property
    def here(self) -> Array:
        """The present state, scaled (d)."""
        return self.path[-1]

    def joined(self, states: Array, actions: Array) -> Array:
        """All columns for the past followed by a path from here: left + 1 x d states and left x q actions."""
        return self.compiled.vector(np.vstack([self.path, states[1:]]), np.vstack([self.actions, actions]))

    def within_bounds(self, values: Array) -> Array:
        """Columns cut to their bounds; the past is then as it was."""
        return np.clip(values, self.bounds.column_lower, self.bounds.column_upper)

    def value(self, objective: PathObjective, values: Array) -> float:
        """The objective over the points still to come."""
        counted = where_counted(objective, self.compiled.per_step)
        return float(counted.value(self.compiled.terms.points(values, self.made * self.compiled.per_step)))

    def refusal(self, values: Array) -> tuple[float, str]:
        """By how much columns miss the model, and what they miss; an empty text where they are allowed.

        Both the compiled rows and the plain-arithmetic audit of every constraint must pass.
        """
        violation, worst = self.compiled.programme.violation(values, self.bounds)
        if violation > TOLERANCE:
            return violation, worst
        path = EpisodePath(self.problem.coordinates, self.problem.points(self.compiled.read(values)[0]), True)
        for constraint in self.problem.rules:
            for broken in constraint.violations(path):
                if broken.step >= self.made:
                    return violation, f"audit of {broken.constraint}: {broken.message}"
        return violation, ""

    def attempt(self, objective: PathObjective, x0: Array, origin: str) -> Array | None:
        """Solve from x0 and record it; the columns, or None where they are not feasible by our own
        arithmetic.

        The solver's word is not taken: neither its status, nor the values it calls feasible.
        """
        began = time.perf_counter()
        try:
            counted = where_counted(objective, self.compiled.per_step)
            solution = self.solver.solve(counted, self.within_bounds(x0), self.bounds)
        except Exception as error:
            if isinstance(error, TcboError) and not isinstance(error, SolverFailed):
                raise
            text = f"{type(error).__name__}: {error}"
            self.attempts.append(SolveRecord(origin, text, None, False, None, "", time.perf_counter() - began, 0))
            return None
        violation, refused = self.refusal(solution.values)
        value = np.nan if not np.isfinite(solution.values).all() else self.value(objective, solution.values)
        feasible = not refused and bool(np.isfinite(value))
        self.attempts.append(
            SolveRecord(
                origin,
                solution.status,
                value if np.isfinite(value) else None,
                feasible,
                violation if np.isfinite(violation) else None,
                refused,
                solution.seconds,
                solution.iterations,
            )
        )
        return solution.values if feasible else None
