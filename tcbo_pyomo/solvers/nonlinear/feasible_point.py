"""A point that meets equations within bounds, by IPOPT: where Newton's method alone does not get there from a poor guess."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

ITERATIONS = 300


class FeasiblePoint:
    """The unknowns x of g(x, p) = 0 within their bounds.

    Parameters
    ----------
    equations
        CasADi expressions: x, p and g.
    lower, upper
        Bounds of x.
    """

    def __init__(self, equations: dict[str, Any], lower: Array, upper: Array) -> None:
        import casadi  # Here, since it takes long to load and most problems are finite.

        options = {"print_level": 0, "sb": "yes", "max_iter": ITERATIONS, "tol": 1e-11, "constr_viol_tol": 1e-11}
        settings: dict[str, Any] = {"ipopt": options, "print_time": False, "calc_lam_p": False, "show_eval_warnings": False}
        self._solver = casadi.nlpsol("feasible", "ipopt", {**equations, "f": casadi.SX(0)}, settings)
        self._lower, self._upper = lower, upper

    def __call__(self, guess: Array, given: Array) -> Array:
        """Where IPOPT gets from a guess."""
        x0 = np.clip(guess, self._lower, self._upper)
        answer = self._solver(x0=x0, p=given, lbx=self._lower, ubx=self._upper, lbg=0.0, ubg=0.0)
        return np.array(answer["x"], dtype=float).ravel()
