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

FOR_MODELS: dict[str, Any] = {
    # A plan of a model begins at the last plan or at a simulated path: a barrier that hardly moves it away from there.
    "mu_init": 1e-6,
    "bound_push": 1e-6,
    "bound_frac": 1e-6,
    "mu_linear_decrease_factor": 0.01,
    "mu_superlinear_decrease_power": 1.9,
    "barrier_tol_factor": 100.0,
    "fast_step_computation": "yes",
    # Its rows are scaled already, and its steps are alike: an ordering by minimum degree will do.
    "mumps_permuting_scaling": 0,
    "mumps_scaling": 0,
    "mumps_pivot_order": 0,
}
"""On top of the defaults where the plant is a user's model: many columns, and a solve takes milliseconds."""

MANAGED = {
    "max_iter": "max_iterations",
    "max_wall_time": "time_limit",
    "max_cpu_time": "time_limit",
    "hessian_approximation": "nothing: the exact Hessian is always used",
}
"""Options with a setting of their own."""

STATUSES: dict[tuple[int, str], str] = {
    (0, "Solve_Succeeded"): "optimal",
    (1, "Solved_To_Acceptable_Level"): "acceptable",
    (6, "Feasible_Point_Found"): "acceptable",
    (2, "Infeasible_Problem_Detected"): "locally infeasible",
    (3, "Search_Direction_Becomes_Too_Small"): "search direction too small",
    (4, "Diverging_Iterates"): "diverging",
    (5, "User_Requested_Stop"): "stopped",
    (-1, "Maximum_Iterations_Exceeded"): "iteration limit",
    (-4, "Maximum_CpuTime_Exceeded"): "time limit",
    (-5, "Maximum_WallTime_Exceeded"): "time limit",
    (-2, "Restoration_Failed"): "restoration failed",
    (-3, "Error_In_Step_Computation"): "error in step computation",
    (-10, "Not_Enough_Degrees_Of_Freedom"): "more equations than variables",
    (-13, "Invalid_Number_Detected"): "invalid number in a constraint or derivative",
}
"""IPOPT's ApplicationReturnStatus, by number and name, in words."""


def in_words(status: int | str) -> str:
    """A status that cyipopt gives as a number and CasADi as a name; an unknown one is called as it is."""
    unknown = status if isinstance(status, str) else f"IPOPT status {status}"
    return next((words for known, words in STATUSES.items() if status in known), unknown)


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
            f"nonlinear option 'linear_solver': unknown '{linear}'; {suggestion(str(linear), LINEAR_SOLVERS)}; "
            "others, such as ma57 of HSL, need an IPOPT that has them (idaes get-extensions), with interface 'pyomo'"
        )
    limits: dict[str, Any] = {"max_iter": 300 if max_iterations is None else int(max_iterations)}
    if limits["max_iter"] < 1:
        raise BadInput(f"max_iterations {max_iterations!r} must be a whole number of at least 1")
    if time_limit is not None:
        if not time_limit > 0:
            raise BadInput(f"time_limit {time_limit!r} must be a positive number of seconds")
        limits["max_wall_time"] = float(time_limit)
    return {**DEFAULTS, **given, **limits}
