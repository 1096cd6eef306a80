"""Which nonlinear solvers work here, found out by planning a two-step path whose best end is known."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.planning.continuous.information_objective import InformationObjective
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.nonlinear.solver_by_name import nonlinear_solver
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

TIME_LIMIT = 5.0
"""Seconds for one attempt."""


def attempt_nonlinear(interface: str, solver: str) -> str:
    """From 0, two moves of at most 0.1 towards a single centre of information at 0.4: the path is 0.1, 0.2."""
    coordinates = (Coordinate("x", 0.0, 1.0),)
    compiled = CompiledTrajectory(coordinates, LinearDynamics.free_moves(1, BoxActions(0.1)), np.array([0.0]), 2, ())
    plan = nonlinear_solver(interface, solver, compiled.programme, compiled.terms, None, TIME_LIMIT)
    objective = InformationObjective(SquaredExponential(1.0, 0.5), np.array([[0.4]]), np.array([1.0]), 1.0)
    bounds = compiled.bounds(np.array([[0.0]]), np.empty((0, 1)))
    start = compiled.vector(np.array([[0.0], [0.05], [0.1]]), np.array([[0.05], [0.05]]))
    solution = plan.solve(objective, start, *bounds)
    states, _ = compiled.read(solution.values)
    if np.abs(states.ravel() - [0.0, 0.1, 0.2]).max() > 1e-5:
        raise SolverFailed(
            f"{solver} through {interface} found the path {states.ravel().tolist()} instead of 0, 0.1, 0.2"
        )
    return _version(interface)


def _version(interface: str) -> str:
    if interface == "casadi":
        return f"from the casadi wheel {version('casadi')}"
    return "found"
