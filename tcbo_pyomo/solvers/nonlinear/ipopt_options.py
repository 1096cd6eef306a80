"""Options of IPOPT shared by the interfaces that link to it, and its exit statuses in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcbo_pyomo.errors import BadInput, suggestion

LINEAR_SOLVERS = ("mumps", "spral")
"""The linear solvers that come with the wheels; others crash the process instead of failing."""

DEFAULTS: dict[str, Any] = {
    "linear_solver": "mumps",
    "tol": 1e-8,
    # IPOPT's own default accepts rows that are missed by 1e-4.
    "constr_viol_tol": 1e-8,
    "acceptable_constr_viol_tol": 1e-7,
    # Plans start at a good path: a small first barrier stays near it, and halves the iterations.
    "mu_init": 1e-3,
    "bound_push": 1e-4,
    "bound_frac": 1e-4,
    "print_level": 0,
    "sb": "yes",
}

MANAGED = {
    "max_iter": "max_iterations",
    "max_wall_time": "time_limit",
    "max_cpu_time": "time_limit",
    "hessian_approximation": "nothing: the exact Hessian is always used",
}
"""Options with a setting of their own."""

STATUSES = {
    "Solve_Succeeded": "optimal",
    "Solved_To_Acceptable_Level": "acceptable",
    "Feasible_Point_Found": "acceptable",
    "Infeasible_Problem_Detected": "locally infeasible",
    "Search_Direction_Becomes_Too_Small": "search direction too small",
    "Diverging_Iterates": "diverging",
    "User_Requested_Stop": "stopped",
    "Maximum_Iterations_Exceeded": "iteration limit",
    "Maximum_CpuTime_Exceeded": "time limit",
    "Maximum_WallTime_Exceeded": "time limit",
    "Restoration_Failed": "restoration failed",
    "Error_In_Step_Computation": "error in step computation",
    "Not_Enough_Degrees_Of_Freedom": "more equations than variables",
    "Invalid_Number_Detected": "invalid number in a constraint or derivative",
}


def ipopt_options(
    options: Mapping[str, Any] | None, time_limit: float | None, max_iterations: int | None
) -> dict[str, Any]:
    """The options of a solve: defaults, then the user's, then the limits; nonsense is refused."""
    given = dict(options or {})
    for name, value in given.items():
        if name in MANAGED:
            raise BadInput(f"nonlinear option '{name}': {value!r}; use the setting {MANAGED[name]} instead")
        if not isinstance(value, (bool, int, float, str)):
            raise BadInput(f"nonlinear option '{name}': {value!r} must be a number or a text")
    linear = given.get("linear_solver", DEFAULTS["linear_solver"])
    if linear not in LINEAR_SOLVERS:
        raise BadInput(
            f"nonlinear option 'linear_solver': unknown '{linear}'; "
            f"{suggestion(str(linear), LINEAR_SOLVERS)}; "
            "others need an IPOPT of your own, with interface 'pyomo'"
        )
    limits: dict[str, Any] = {"max_iter": 300 if max_iterations is None else int(max_iterations)}
    if limits["max_iter"] < 1:
        raise BadInput(f"max_iterations {max_iterations!r} must be a whole number of at least 1")
    if time_limit is not None:
        if not time_limit > 0:
            raise BadInput(f"time_limit {time_limit!r} must be a positive number of seconds")
        limits["max_wall_time"] = float(time_limit)
    return {**DEFAULTS, **given, **limits}
