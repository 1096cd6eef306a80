"""A point that meets equations within bounds, by IPOPT: where Newton's method alone does not get there from a poor guess."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

ITERATIONS = 500


def feasible_point(equations: dict[str, Any], guess: Array, given: Array, lower: Array, upper: Array) -> Array:
    """The unknowns x of g(x, p) = 0 within their bounds, nearest to where IPOPT gets from the guess.

    Parameters
    ----------
    equations
        CasADi expressions: x, p and g.
    guess, given
        First values of x, and p.
    lower, upper
        Bounds of x.
    """
    import casadi  # Here, since it takes long to load and most problems are finite.

    options = {"print_level": 0, "sb": "yes", "max_iter": ITERATIONS, "tol": 1e-11, "constr_viol_tol": 1e-11}
    settings = {"ipopt": options, "print_time": False, "calc_lam_p": False, "show_eval_warnings": False}
    solver = casadi.nlpsol("feasible", "ipopt", {**equations, "f": casadi.SX(0)}, settings)
    answer = solver(x0=np.clip(guess, lower, upper), p=given, lbx=lower, ubx=upper, lbg=0.0, ubg=0.0)
    return np.array(answer["x"], dtype=float).ravel()
