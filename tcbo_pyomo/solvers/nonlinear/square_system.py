"""As many equations as unknowns, compiled once: Newton's method, and IPOPT where that does not get there from a poor guess."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.solvers.nonlinear.feasible_point import FeasiblePoint

FEW_ITERATIONS = 50
"""Of large models many random moves have no solution; what Newton's method finds, it finds soon."""


class SquareSystem:
    """The unknowns x of g(x, p) = 0.

    Parameters
    ----------
    equations
        CasADi expressions: x, p and g.
    lower, upper
        Bounds of x, which only IPOPT keeps.
    is_model
        Whether these are the equations of a user's whole model: their rows are scaled to one, and IPOPT is tried, too.
    """

    def __init__(self, equations: dict[str, Any], lower: Array, upper: Array, is_model: bool) -> None:
        import casadi  # Here, since it takes long to load and most problems are finite.

        options: dict[str, Any] = {"abstol": 1e-11, "error_on_fail": False, "show_eval_warnings": False}
        if is_model:
            options["max_iter"] = FEW_ITERATIONS
        self._equations, self._bounds, self._is_model = equations, (lower, upper), is_model
        self._newton = casadi.rootfinder("step", "newton", equations, options)
        self._residual = casadi.Function("residual", [equations["x"], equations["p"]], [equations["g"]])

    def solve(self, guess: Array, given: Array) -> tuple[Array, float]:
        """The unknowns for given values, and by how much the equations are missed."""
        with section("one step"):
            answer: Array = np.array(self._newton(guess, given)).ravel()
        missed = self._missed(answer, given)
        if self._is_model and not missed <= self.allowed(answer):
            answer = self._by_ipopt(guess, given)
            missed = self._missed(answer, given)
        return answer, missed

    def solve_many(self, guesses: Array, given: Array) -> tuple[Array, Array]:
        """The same for many at once, as columns, by Newton's method alone."""
        with section("one step"):
            answers: Array = np.array(self._newton(guesses, given))
        return answers, np.abs(np.array(self._residual(answers, given))).max(axis=0)

    def allowed(self, answer: Array) -> Array:
        """By how much the equations may be missed; for one answer, or for each of many (columns)."""
        largest = np.zeros(answer.shape[1:]) if self._is_model else np.abs(answer).max(axis=0)
        return 1e-8 * np.maximum(1.0, largest)

    @cached_property
    def _by_ipopt(self) -> FeasiblePoint:
        return FeasiblePoint(self._equations, *self._bounds)

    def _missed(self, answer: Array, given: Array) -> float:
        return float(np.abs(np.array(self._residual(answer, given)).ravel()).max())
