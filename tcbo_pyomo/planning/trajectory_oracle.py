"""The linear oracle of a continuous plant (section 4.2): the path that minimises the linearised utility.

The problem is not convex. It is solved from the shortest paths to both members of the maximising pair (and to
further candidates), and the best path found is returned: never worse than the best feasible warm start, and
always feasible by our own arithmetic, whatever the solver says.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tcbo_pyomo.coordinates import Array, Coordinate, physical
from tcbo_pyomo.dynamics import Dynamics
from tcbo_pyomo.errors import BadInput, SolverFailed, TcboError
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.planning.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.planning.path_objective import PathObjective
from tcbo_pyomo.planning.shortest_path import DistanceObjective, coasting_path, detours, straight_path
from tcbo_pyomo.planning.trajectory_plan import PlanRecord, SolveRecord, TrajectoryPlan
from tcbo_pyomo.planning.unreachable import explained_failure
from tcbo_pyomo.solvers.linear_programme import Bounds
from tcbo_pyomo.solvers.nonlinear import nonlinear_solver
from tcbo_pyomo.solvers.nonlinear_programme import TOLERANCE
from tcbo_pyomo.solvers.nonlinear_solution import NonlinearSolution

logger = logging.getLogger(__name__)

DETOURS = 64
"""How many ways round obstacles are tried when the straight path is blocked."""


class Candidate(NamedTuple):
    """A feasible path: all columns, its objective, and where it came from."""

    values: Array
    value: float
    origin: str


class TrajectoryOracle:
    """Plans paths of one plant; compiled once, re-solved for every plan of a campaign.

    Parameters
    ----------
    coordinates, dynamics, start, steps, constraints
        As in `build_trajectory`; an episode may start elsewhere than at `start`.
    interface, solver, options, time_limit, max_iterations
        As in `nonlinear_solver`.
    solves
        From how many of the best warm starts the plan is solved.
    """

    def __init__(
        self,
        coordinates: Sequence[Coordinate],
        dynamics: Dynamics,
        start: Mapping[str, Any] | Array,
        steps: int,
        constraints: Sequence[TransitionConstraint] = (),
        interface: str = "casadi",
        solver: str = "ipopt",
        options: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
        max_iterations: int | None = None,
        solves: int = 2,
    ) -> None:
        if solves < 1:
            raise BadInput(f"trajectory oracle: solves {solves!r} must be at least 1")
        self.coordinates, self.dynamics, self.constraints = tuple(coordinates), dynamics, tuple(constraints)
        self.compiled = CompiledTrajectory(coordinates, dynamics, start, steps, constraints)
        self.solver = nonlinear_solver(
            interface,
            solver,
            self.compiled.programme,
            self.compiled.terms,
            options,
            time_limit,
            max_iterations,
        )
        self.solves = solves

    def best_path(
        self,
        objective: PathObjective,
        path_so_far: Array,
        actions_so_far: Array,
        targets: Array,
        previous: TrajectoryPlan | None = None,
    ) -> TrajectoryPlan:
        """The best path found for the rest of the episode.

        Parameters
        ----------
        objective
            What is minimised, summed over the points not yet visited.
        path_so_far
            k + 1 x d scaled states of this episode, the present one last.
        actions_so_far
            k x q actions made.
        targets
            t x d scaled points to which shortest paths are tried: z and z' first.
        previous
            The last plan of this episode; what is left of it is one more warm start.
        """
        began = time.perf_counter()
        path, actions = self._checked(path_so_far, actions_so_far)
        aims = self._points("targets", targets)
        bounds = self.compiled.bounds(path, actions)
        attempts: list[SolveRecord] = []
        starts = self._warm_starts(objective, path, actions, aims, previous, bounds, attempts)
        if not starts:
            raise explained_failure(self, path, bounds, attempts)
        best = starts[0]
        found: list[Candidate] = []
        for start in starts[: self.solves]:
            solution = self._attempt(objective, start.values, bounds, start.origin, len(actions), attempts)
            if solution is not None:
                found.append(Candidate(solution.values, solution.objective, start.origin))
        solved = min(found, key=lambda candidate: candidate.value, default=best)
        improved = bool(found) and solved.value <= best.value
        chosen = solved if improved else best
        reason = "" if improved else self._reason(found, attempts)
        if reason:
            logger.info("plan of step %d: warm start '%s' used, %s", len(path) - 1, chosen.origin, reason)
        record = PlanRecord(
            self.solver.name,
            "solver" if improved else "warm start",
            chosen.origin,
            reason,
            best.value,
            time.perf_counter() - began,
            tuple(attempts),
        )
        return TrajectoryPlan(*self.compiled.read(chosen.values), chosen.value, record, chosen.values)

    def _checked(self, path: Array, actions: Array) -> tuple[Array, Array]:
        states = self._points("path_so_far", path)
        inputs = np.asarray(actions, dtype=float).reshape(-1, self.compiled.inputs)
        left = self.compiled.steps - len(inputs)
        if states.shape != (len(inputs) + 1, self.compiled.dimension) or left < 1:
            raise BadInput(
                f"best_path: {states.shape[0]} states and {len(inputs)} actions so far; there must be one "
                "state more than "
                f"actions, {self.compiled.dimension} values each, and fewer than {self.compiled.steps} moves "
                "made"
            )
        if not np.isfinite(inputs).all():
            raise BadInput(f"best_path: actions_so_far {inputs.tolist()} must be finite")
        return states, inputs

    def _points(self, name: str, points: Array) -> Array:
        """Scaled points as an n x d array of finite numbers; n may be zero."""
        array = np.asarray(points, dtype=float)
        if array.size % self.compiled.dimension or not np.isfinite(array).all():
            raise BadInput(
                f"best_path: {name} must be rows of {self.compiled.dimension} finite scaled values"
            )
        return array.reshape(-1, self.compiled.dimension)

    def _warm_starts(
        self,
        objective: PathObjective,
        path: Array,
        actions: Array,
        targets: Array,
        previous: TrajectoryPlan | None,
        bounds: Bounds,
        attempts: list[SolveRecord],
    ) -> list[Candidate]:
        """Feasible paths, the best first."""
        made, left = len(actions), self.compiled.steps - len(actions)
        found: list[Candidate] = []

        def offer(values: Array, origin: str) -> bool:
            values = np.clip(values, bounds.column_lower, bounds.column_upper)
            if not self._allowed(values, made):
                return False
            if self.compiled.programme.violation(values, *bounds)[0] > TOLERANCE:
                return False
            value = objective.value(self.compiled.terms.points(values, made))
            if np.isfinite(value) and not any(np.array_equal(values, other.values) for other in found):
                found.append(Candidate(values, float(value), origin))
            return True

        def joined(states: Array, moves: Array) -> Array:
            return self.compiled.vector(np.vstack([path, states[1:]]), np.vstack([actions, moves]))

        def offer_unsolved(target: Array, origin: str) -> bool:
            """The straight path, or the shortest of the detours that are allowed."""
            if not self.dynamics.is_free_move:
                return False
            if offer(joined(*straight_path(self.dynamics, path[-1], target, left)), origin):
                return True
            if self.compiled.convex:
                return False
            ways = detours(self.dynamics, path[-1], target, left, DETOURS)
            return any(offer(joined(way, np.diff(way, axis=0)), f"detour on the {origin}") for way in ways)

        if previous is not None and len(previous.columns) == len(bounds.column_lower):
            # The bounds put the past as it was into the plan.
            offer(previous.columns, "previous plan")
        coasting = joined(*coasting_path(self.dynamics, path[-1], left, actions[-1] if made else None))
        for number, target in enumerate(dict.fromkeys(map(tuple, targets.tolist()))):
            origin = f"shortest path to target {number}"
            if not offer_unsolved(np.array(target), origin):
                solution = self._attempt(
                    DistanceObjective(np.array(target)), coasting, bounds, origin, made, attempts
                )
                if solution is not None:
                    offer(solution.values, origin)
        if not found:
            offer(coasting, "coasting")
        return sorted(found, key=lambda candidate: candidate.value)

    def _attempt(
        self,
        objective: PathObjective,
        x0: Array,
        bounds: Bounds,
        origin: str,
        made: int,
        attempts: list[SolveRecord],
    ) -> NonlinearSolution | None:
        """One solve, recorded; None where it gave nothing that is feasible by our own arithmetic."""
        kind = "distance" if isinstance(objective, DistanceObjective) else "information"
        name, began = f"{kind} from {origin}", time.perf_counter()
        try:
            solution = self.solver.solve(
                objective, np.clip(x0, bounds.column_lower, bounds.column_upper), *bounds
            )
        except Exception as error:
            if isinstance(error, TcboError) and not isinstance(error, SolverFailed):
                raise
            text = f"{type(error).__name__}: {error}"
            seconds = time.perf_counter() - began
            attempts.append(SolveRecord(name, text, None, False, None, "", seconds, 0))
            return None
        # The solver's word is not taken: neither its status, nor the values it calls feasible.
        violation, worst = self.compiled.programme.violation(solution.values, *bounds)
        feasible = bool(violation <= TOLERANCE and np.isfinite(solution.objective))
        if feasible and not self._allowed(solution.values, made):
            feasible, worst = False, "refused by the audit of the moves"
        attempts.append(
            SolveRecord(
                name,
                solution.status,
                float(solution.objective) if np.isfinite(solution.objective) else None,
                feasible,
                float(violation) if np.isfinite(violation) else None,
                worst,
                solution.seconds,
                solution.iterations,
            )
        )
        return solution if feasible else None

    def _allowed(self, values: Array, made: int) -> bool:
        """Whether the plain-arithmetic audit of every constraint passes the moves still to come."""
        states = physical(self.coordinates, self.compiled.read(values)[0])
        return not any(
            violation.step >= made
            for constraint in self.constraints
            for violation in constraint.violations(self.coordinates, states, True)
        )

    @staticmethod
    def _reason(found: list[Candidate], attempts: list[SolveRecord]) -> str:
        if found:
            return "no solve was better"
        last = [attempt for attempt in attempts if attempt.origin.startswith("information")]
        said = "; ".join(dict.fromkeys(f"{attempt.status} ({attempt.worst})" for attempt in last))
        return f"no solve gave a feasible path: {said}"
