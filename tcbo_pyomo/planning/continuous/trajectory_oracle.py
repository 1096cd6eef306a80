"""The linear oracle of a continuous plant (section 4.2): the path that minimises the linearised utility.

The problem is not convex. It is solved from the shortest paths to both members of the maximising pair (and to
further candidates), and the best path found is returned: never worse than the best feasible warm start, and
always feasible by our own arithmetic, whatever the solver says.
"""

from __future__ import annotations

import logging
import time
from weakref import WeakKeyDictionary

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import section, timed
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.planning.continuous.dead_ends import explained_failure
from tcbo_pyomo.planning.continuous.solve_attempts import Replan
from tcbo_pyomo.planning.continuous.trajectory_plan import PlanRecord, SolveRecord, TrajectoryPlan
from tcbo_pyomo.planning.continuous.warm_starts import Candidate, warm_starts
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import NonlinearSolverSettings
from tcbo_pyomo.solvers.nonlinear.discretisation_error import warn_of_discretisation
from tcbo_pyomo.solvers.nonlinear.ipopt_options import FOR_MODELS
from tcbo_pyomo.solvers.nonlinear.path_objective import PathObjective
from tcbo_pyomo.solvers.nonlinear.solver_by_name import nonlinear_solver

ITERATIONS_ON_LINEAR_ROWS = 50
"""Of IPOPT, where every warm start is feasible. In a campaign each on Branin2D and Hartmann3D nine of ten solves took 20,
and the three that took hundreds gained 1 % at most. Obstacles and curved dynamics may need more to become feasible."""

logger = logging.getLogger(__name__)


class TrajectoryOracle:
    """Plans paths of one plant; compiled once, re-solved for every plan of a campaign."""

    @timed("NLP build")
    def __init__(self, problem: ContinuousProblem, settings: NonlinearSolverSettings) -> None:
        self.problem, self.solves = problem, settings.solves
        start = np.asarray(problem.start_state)
        if problem not in _COMPILED:
            parts = problem.coordinates, problem.dynamics, start, problem.horizon, problem.rules, problem.input_names
            _COMPILED[problem] = CompiledTrajectory(*parts, problem.parts, problem.between)
        self.compiled = _COMPILED[problem]
        warn_of_discretisation(problem.dynamics, start, problem.horizon)
        iterations = settings.max_iterations
        linear = isinstance(problem.dynamics, LinearDynamics) and not problem.rules
        if iterations is None and linear and settings.interface != "pyomo":
            iterations = ITERATIONS_ON_LINEAR_ROWS
        programme, terms = self.compiled.programme, self.compiled.terms
        # With cyipopt it is unknown which linear solver its IPOPT has.
        tuned = isinstance(problem.dynamics, ModelDynamics) and settings.interface == "casadi"
        options = {**FOR_MODELS, **settings.options} if tuned else settings.options
        limits = options, settings.time_limit, iterations
        self.solver = nonlinear_solver(settings.interface, settings.solver, programme, terms, *limits)

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
            t x p scaled inputs of the black box to which shortest paths are tried: z and z' first.
        previous
            The last plan of this episode; what is left of it is one more warm start.
        """
        began = time.perf_counter()
        path, actions = self._checked(path_so_far, actions_so_far)
        replan = Replan(self.problem, self.compiled, self.solver, path, actions)
        with section("warm starts"):
            starts = warm_starts(replan, objective, self._points("targets", targets, len(self.compiled.model.INPUTS)), previous)
        if not starts:
            raise explained_failure(replan)
        best, warm_solves = starts[0], len(replan.attempts)
        plans: list[Candidate] = []
        for start in starts[: self.solves]:
            values = replan.attempt(objective, start.values, start.origin)
            if values is not None:
                plans.append(Candidate(values, replan.value(objective, values), start.origin))
        chosen = min([*plans, best], key=lambda candidate: candidate.value)
        reason = "" if chosen is not best else _reason(plans, replan.attempts[warm_solves:])
        if reason:
            logger.info("plan of step %d: warm start '%s' used, %s", replan.made, chosen.origin, reason)
        record = PlanRecord(
            self.solver.name,
            "warm start" if reason else "solver",
            chosen.origin,
            reason,
            best.value,
            time.perf_counter() - began,
            tuple(replan.attempts),
        )
        return TrajectoryPlan(*self.compiled.read(chosen.values), chosen.value, record, chosen.values)

    def measured_points(self, plan: TrajectoryPlan, made: int) -> Array:
        """What the black box sees of the points of a plan that are measured after so many moves (n x p)."""
        return self.compiled.terms.points(plan.columns, made * self.compiled.per_step)

    def _checked(self, path: Array, actions: Array) -> tuple[Array, Array]:
        states = self._points("path_so_far", path, self.compiled.dimension)
        inputs = np.asarray(actions, dtype=float).reshape(-1, self.compiled.inputs)
        left = self.compiled.steps - len(inputs)
        if states.shape != (len(inputs) + 1, self.compiled.dimension) or left < 1:
            raise BadInput(
                f"best_path: {states.shape[0]} states and {len(inputs)} actions so far; there must be one state more than "
                f"actions, {self.compiled.dimension} values each, and fewer than {self.compiled.steps} moves made"
            )
        if not np.isfinite(inputs).all():
            raise BadInput(f"best_path: actions_so_far {inputs.tolist()} must be finite")
        return states, inputs

    def _points(self, name: str, points: Array, dimension: int) -> Array:
        """Scaled points as an array of finite numbers, one row each; there may be none."""
        array = np.asarray(points, dtype=float)
        if array.size % dimension or not np.isfinite(array).all():
            raise BadInput(f"best_path: {name} must be rows of {dimension} finite scaled values")
        return array.reshape(-1, dimension)


_COMPILED: WeakKeyDictionary[ContinuousProblem, CompiledTrajectory] = WeakKeyDictionary()
"""One compiled trajectory for the planner, the search for reachable points and every campaign of a problem."""


def _reason(plans: list[Candidate], attempts: list[SolveRecord]) -> str:
    """Why a warm start is used."""
    if plans:
        return "no solve was better"
    said = (f"{attempt.status} ({attempt.refused})" if attempt.refused else attempt.status for attempt in attempts)
    return f"no solve gave a feasible path: {'; '.join(dict.fromkeys(said))}"
