"""Which solvers work here, found out by solving something: `available()` of Pyomo is not to be trusted.

A new solver is one more `Probe` in `PROBES`: its name, what it is for, how to get it, and an attempt that returns its
version or raises.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import highspy
from pyomo.common.tee import capture_output
from pyomo.environ import ConcreteModel, Constraint, NonNegativeReals, Var

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.solvers.catalogue import LINEAR_SOLVERS, NONLINEAR_SOLVERS
from tcbo_pyomo.solvers.linear.any_pyomo_solver import PyomoLinearSolver, create_solver
from tcbo_pyomo.solvers.linear.highs import HighsSolver
from tcbo_pyomo.solvers.linear.programme import compile_linear_model
from tcbo_pyomo.solvers.linear.solver import LinearSolver

logger = logging.getLogger(__name__)

TIME_LIMIT = 1.0
"""Seconds for one attempt."""


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
    programme = compile_linear_model(model, [model.x, model.y])
    solver: LinearSolver
    if name == HighsSolver.name:
        solver, version = HighsSolver(programme, time_limit=TIME_LIMIT), highspy.Highs().version()
    else:
        solver, version = PyomoLinearSolver(name, programme, time_limit=TIME_LIMIT), _version(create_solver(name))
    solution = solver.solve([-1.0, -2.0])
    if abs(solution.objective + 2.0) > 1e-6:
        raise SolverFailed(f"{name} found {solution.objective:g} instead of -2 on the test problem")
    return version


def _attempt_built_in() -> str:
    return "built in"


def _attempt_nonlinear(interface: str, name: str) -> str:
    # Only here: casadi is large, and linear planning does not need it.
    from tcbo_pyomo.solvers.nonlinear.probe_plan import attempt_nonlinear

    return attempt_nonlinear(interface, name)


def _version(solver: Any) -> str:
    try:
        return ".".join(str(part) for part in solver.version())
    except Exception:
        return "version unknown"


PROBES: tuple[Probe, ...] = tuple(
    Probe(name, "linear", source, _attempt_built_in if source == "built in" else partial(_attempt_linear, name))
    for name, source in LINEAR_SOLVERS.items()
) + tuple(
    Probe(f"{name} ({interface})", "nonlinear", source, partial(_attempt_nonlinear, interface, name))
    for (interface, name), source in NONLINEAR_SOLVERS.items()
)
