"""One step of a plant by the equations in its campaign file: what the model says, without its code and without Pyomo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.declared_rule import limits_of
from tcbo_pyomo.models.expression_data import FUNCTIONS, evaluated
from tcbo_pyomo.plant.actions import ActionLimits
from tcbo_pyomo.solvers.nonlinear.square_system import SquareSystem
from tcbo_pyomo.solvers.nonlinear.step_limits import MEASURED

CASADI_NAMES = {"/": "rdivide", "**": "power", "abs": "fabs"}
"""What CasADi calls an operation, where it is not called as in the data."""


class StoredEquations:
    """x_{h+1} = F(x_h, a_h) from what `step_equations` wrote down.

    Parameters
    ----------
    data
        The equations, unknowns and limits of a step.
    start
        The scaled state from which the first guess is worked out.
    actions
        The limits of the actions; their middle serves the first guess.
    """

    def __init__(self, data: Mapping[str, Any], start: Array, actions: ActionLimits) -> None:
        import casadi  # Here, since it takes long to load and most problems are finite.

        self._unknowns, self._rows, self._size = data["unknowns"], data["limits"], len(start)
        lower, upper = actions.bounds()
        symbols = {
            "state": casadi.SX.sym("state", len(start)),
            "action": casadi.SX.sym("action", len(lower)),
            "unknown": casadi.SX.sym("unknown", len(self._unknowns)),
        }
        formulas: list[Any] = []

        def leaf(kind: str, number: int) -> Any:
            return formulas[number] if kind == "shared" else symbols[kind][number]

        functions = _casadi_functions()
        for tree in data["shared"]:
            formulas.append(casadi.SX(evaluated(tree, leaf, functions)))
        residual = casadi.vertcat(*(evaluated(tree, leaf, functions) for tree in data["equations"]))
        given = casadi.vertcat(symbols["state"], symbols["action"])
        bounds = np.array([limits_of(unknown) for unknown in self._unknowns])
        # The next state may leave its box here: whether it may do so is not for the equations to say.
        equations = {"x": symbols["unknown"], "p": given, "g": residual}
        self._bounds = bounds
        self._system = SquareSystem(equations, bounds[:, 0], bounds[:, 1], is_model=bool(data["scaled"]))
        limits = casadi.vertcat(*(evaluated(row["body"], leaf, functions) for row in self._rows))
        self._limits = casadi.Function("limits", [symbols["unknown"], given], [limits])
        self._guess = np.array([unknown["guess"] for unknown in self._unknowns], dtype=float)
        answer, missed = self._solve(start, 0.5 * (lower + upper))
        if missed <= self._system.allowed(answer):
            self._guess = answer

    def next_state(self, state: Array, action: Array) -> Array:
        """The scaled state (d) after `action` (q) in the scaled state (d)."""
        answer, missed = self._solve(state, action)
        if not missed <= self._system.allowed(answer):
            raise SolverFailed(f"dynamics: the equations of a step have no solution that is found (residual {missed:.1e})")
        return answer[: self._size]

    def broken_limit(self, state: Array, action: Array) -> str:
        """The name of the limit of the model that a step breaks most; empty where it breaks none by more than a move may."""
        answer, _ = self._solve(state, action)
        missed = np.maximum(self._bounds[:, 0] - answer, answer - self._bounds[:, 1]) / np.maximum(1.0, np.abs(answer))
        if self._rows:
            values = np.array(self._limits(answer, np.concatenate([state, action])), dtype=float).ravel()
            low, high = self._row_bounds.T
            missed = np.concatenate([missed, np.maximum(low - values, values - high)])
        worst = int(missed.argmax())
        return str([*self._unknowns, *self._rows][worst]["name"]) if missed[worst] > MEASURED else ""

    @cached_property
    def _row_bounds(self) -> Array:
        return np.array([limits_of(row) for row in self._rows])

    def _solve(self, state: Array, action: Array) -> tuple[Array, float]:
        """The unknowns of a step, and by how much its equations are missed."""
        guess = self._guess.copy()
        guess[: self._size] = state
        return self._system.solve(guess, np.concatenate([np.ravel(state), np.ravel(action)]).astype(float))


def _casadi_functions() -> dict[str, Callable[..., Any]]:
    """Every operation of stored arithmetic on CasADi expressions."""
    import casadi

    found: dict[str, Callable[..., Any]] = {"-": lambda value: -value}
    return found | {name: getattr(casadi, CASADI_NAMES.get(name, name)) for name in FUNCTIONS if name != "-"}
