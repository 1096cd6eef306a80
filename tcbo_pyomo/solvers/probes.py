"""Which solvers work here, found out by solving something: `available()` of Pyomo is not to be trusted.

Compiled linear solvers are found by their files; any other solver worth naming is a line of the catalogue.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from pyomo.common.tee import capture_output
from pyomo.environ import ConcreteModel, Constraint, NonNegativeReals, Var

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.trajectory import build_trajectory
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.catalogue import LINEAR_SOLVERS, NONLINEAR_SOLVERS, WITH_PACKAGE
from tcbo_pyomo.solvers.linear.programme import compile_linear_model
from tcbo_pyomo.solvers.linear.solver_by_name import COMPILED, linear_solver

logger = logging.getLogger(__name__)

TIME_LIMIT = 1.0
"""Seconds for one linear attempt."""
NONLINEAR_TIME_LIMIT = 5.0
"""Seconds for one nonlinear attempt."""


@dataclass(frozen=True)
class ProbeResult:
    """One line of `tcbo solvers`: `detail` is the version, or the reason why it does not work."""

    name: str
    role: str
    works: bool
    detail: str
    how_to_get: str


@dataclass(frozen=True)
class Probe:
    """A solver and how to try it; `attempt` returns a version or raises."""

    name: str
    role: str
    how_to_get: str
    attempt: Callable[[], str]

    def run(self) -> ProbeResult:
        """Try the solver; whatever it raises becomes the reason."""
        try:
            detail, works = self.attempt(), True
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            detail, works = reason.partition("; to get it")[0], False
            logger.debug("probe of %s", self.name, exc_info=error)
        return ProbeResult(self.name, self.role, works, detail, self.how_to_get)


def probe_solvers() -> list[ProbeResult]:
    """Try every solver that is worth naming; quiet, and never raises."""
    # Solvers and their licence managers write to the terminal as they please.
    with capture_output(capture_fd=True):
        return [probe.run() for probe in PROBES]


def _attempt_linear(name: str) -> str:
    """Maximise x + 2 y on x + y <= 1: the answer is y = 1."""
    model = ConcreteModel()
    model.x = Var(domain=NonNegativeReals)
    model.y = Var(domain=NonNegativeReals)
    model.total = Constraint(expr=model.x + model.y <= 1)
    solver = linear_solver(name, compile_linear_model(model, [model.x, model.y]), time_limit=TIME_LIMIT)
    solution = solver.solve([-1.0, -2.0])
    if abs(solution.objective + 2.0) > 1e-6:
        raise SolverFailed(f"{name} found {solution.objective:g} instead of -2 on the test problem")
    return solver.version()


class _SquaredDistances:
    """sum_h (x_h - 0.4)^2, a path objective whose best path is known."""

    def value(self, points: Array) -> float:
        return float(((points - 0.4) ** 2).sum())

    def gradient(self, points: Array) -> Array:
        return 2.0 * (points - 0.4)

    def hessian(self, points: Array) -> Array:
        return np.full((len(points), 1, 1), 2.0)

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        return sum((model.state[step, "x"] - 0.4) ** 2 for step in steps)


def _attempt_nonlinear(interface: str, name: str) -> str:
    """From 0, two moves of at most 0.1 towards 0.4: the path is 0.1, 0.2."""
    # Only here: casadi is large, and linear planning does not need it.
    from tcbo_pyomo.solvers.nonlinear.path_objective import PathTerms
    from tcbo_pyomo.solvers.nonlinear.programme import compile_nonlinear_model
    from tcbo_pyomo.solvers.nonlinear.solver_by_name import nonlinear_solver

    dynamics = LinearDynamics.free_moves(1, BoxActions(0.1))
    model = build_trajectory((Coordinate("x", 0.0, 1.0),), dynamics, np.array([0.0]), 2)
    programme = compile_nonlinear_model(model, list(model.state.values()))
    terms = PathTerms(np.array([[1], [2]]), len(programme.columns))
    solver = nonlinear_solver(interface, name, programme, terms, None, NONLINEAR_TIME_LIMIT)
    bounds = Bounds(*programme.column_bounds(), *programme.row_bounds())
    path = solver.solve(_SquaredDistances(), programme.start_values(), bounds).values[:3]
    if np.abs(path - [0.0, 0.1, 0.2]).max() > 1e-5:
        raise SolverFailed(f"{name} through {interface} found the path {path.tolist()} instead of 0, 0.1, 0.2")
    return f"from the casadi wheel {version('casadi')}" if interface == "casadi" else "found"


PROBES: tuple[Probe, ...] = tuple(
    Probe(name, "linear", source, (lambda: "built in") if source == "built in" else partial(_attempt_linear, name))
    for name, source in (dict.fromkeys(COMPILED.names(), WITH_PACKAGE) | LINEAR_SOLVERS).items()
) + tuple(
    Probe(f"{name} ({interface})", "nonlinear", source, partial(_attempt_nonlinear, interface, name))
    for (interface, name), source in NONLINEAR_SOLVERS.items()
)
