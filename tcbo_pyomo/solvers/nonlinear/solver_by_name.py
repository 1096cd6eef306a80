"""The nonlinear solvers behind one setting: `planner.nonlinear: {interface: casadi, solver: ipopt}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.registry import Registry
from tcbo_pyomo.solvers.nonlinear.any_pyomo_solver import PyomoNonlinear
from tcbo_pyomo.solvers.nonlinear.path_objective import PathTerms
from tcbo_pyomo.solvers.nonlinear.programme import NonlinearProgramme
from tcbo_pyomo.solvers.nonlinear.solver import NonlinearSolver

COMPILED: Registry[NonlinearSolver] = Registry("tcbo_pyomo.solvers.nonlinear", "nonlinear solver", NonlinearSolver)
"""Solvers with compiled derivatives; a file is called after solver and interface, such as ipopt_casadi."""


def nonlinear_solver(
    interface: str,
    solver: str,
    programme: NonlinearProgramme,
    terms: PathTerms,
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
) -> NonlinearSolver:
    """A solver of the user's choice for a compiled programme; see `NonlinearSolver` for the other parameters.

    Parameters
    ----------
    interface
        casadi (IPOPT from the casadi wheel), cyipopt (an extra), or pyomo (any SolverFactory name).
    solver
        ipopt for the first two; for pyomo any name, such as ipopt or pounce.
    """
    if interface == "pyomo":
        return PyomoNonlinear(solver, programme, terms, options, time_limit, max_iterations)
    compiled = [name.rpartition("_") for name in COMPILED.names()]
    known = [name for name, _, its_interface in compiled if its_interface == interface]
    if not known:
        interfaces = sorted({its_interface for _, _, its_interface in compiled} | {"pyomo"})
        raise BadInput(f"nonlinear interface: unknown '{interface}'; {suggestion(str(interface), interfaces)}")
    if solver not in known:
        raise BadInput(
            f"nonlinear solver '{solver}': interface '{interface}' has {', '.join(known)} only; use interface 'pyomo' for "
            "other solvers"
        )
    return COMPILED.load(f"{solver}_{interface}")(programme, terms, options, time_limit, max_iterations)
