"""The nonlinear solvers behind one setting: `planner.nonlinear: {interface: casadi, solver: ipopt}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.solvers.nonlinear.any_pyomo_solver import PyomoNonlinear
from tcbo_pyomo.solvers.nonlinear.ipopt_casadi import IpoptCasadi
from tcbo_pyomo.solvers.nonlinear.ipopt_cyipopt import IpoptCyipopt
from tcbo_pyomo.solvers.nonlinear.path_terms import PathTerms
from tcbo_pyomo.solvers.nonlinear.programme import NonlinearProgramme
from tcbo_pyomo.solvers.nonlinear.solution import NonlinearSolver

INTERFACES = ("casadi", "cyipopt", "pyomo")


def nonlinear_solver(
    interface: str,
    solver: str,
    programme: NonlinearProgramme,
    terms: PathTerms,
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
) -> NonlinearSolver:
    """A solver of the user's choice for a compiled programme.

    Parameters
    ----------
    interface
        casadi (IPOPT from the casadi wheel), cyipopt (an extra), or pyomo (any SolverFactory name).
    solver
        ipopt for the first two; for pyomo any name, such as ipopt or pounce.
    programme, terms
        The compiled constraints, and which columns are the points of the path.
    options
        The solver's own options.
    time_limit, max_iterations
        Limits of one solve.
    """
    if interface not in INTERFACES:
        raise BadInput(f"nonlinear interface: unknown '{interface}'; {suggestion(str(interface), INTERFACES)}")
    if interface == "pyomo":
        return PyomoNonlinear(programme, terms, solver, options, time_limit, max_iterations)
    if solver != "ipopt":
        raise BadInput(
            f"nonlinear solver '{solver}': interface '{interface}' has ipopt only; use interface 'pyomo' for "
            "other solvers"
        )
    kind = IpoptCasadi if interface == "casadi" else IpoptCyipopt
    return kind(programme, terms, options, time_limit, max_iterations)
