"""Names of solvers this package knows about, and how to get the ones that are missing."""

from __future__ import annotations

WITH_PACKAGE = "installed with this package"

LINEAR_SOLVERS: dict[str, str] = {
    "highs": WITH_PACKAGE,
    "dynamic_programming": "built in",
    "appsi_highs": WITH_PACKAGE,
    "glpk": "apt install glpk-utils, or conda install -c conda-forge glpk",
    "cbc": "apt install coinor-cbc, or conda install -c conda-forge coin-or-cbc",
    "scip_direct": "pip install pyscipopt",
    "scip": "conda install -c conda-forge scip",
    "gurobi_direct": "pip install gurobipy, and a licence",
}
"""Solver name -> how to get it. Any other linear solver of Pyomo's SolverFactory may be named too."""

NONLINEAR_SOLVERS: dict[tuple[str, str], str] = {
    ("casadi", "ipopt"): WITH_PACKAGE,
    ("cyipopt", "ipopt"): "pip install 'tcbo_pyomo[cyipopt]'",
    (
        "pyomo",
        "ipopt",
    ): "pip install 'tcbo_pyomo[idaes]' and idaes get-extensions, or conda install -c conda-forge ipopt",
    ("pyomo", "pounce"): "pip install 'tcbo_pyomo[pounce]'",
}
"""(interface, solver) -> how to get it. With interface pyomo any nonlinear solver of the SolverFactory may be named."""


def how_to_get(name: str) -> str:
    """What to do when a solver is missing."""
    return LINEAR_SOLVERS.get(name, "see the documentation of Pyomo and of the solver")
