"""One step of nonlinear dynamics as numbers, from the same Pyomo expressions that the plan uses.

The equations of one step, with whatever variables the user's function adds (such as a discretised ODE), are
compiled once and solved by Newton's method for the next state; where the next state is given explicitly, one
iteration does it.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np

from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.dynamics import Dynamics, LinearDynamics, NonlinearDynamics


@runtime_checkable
class Simulator(Protocol):
    """What can make one step with numbers."""

    def next_state(self, state: Array, action: Array) -> Array:
        """The scaled state (d) after `action` (q) in the scaled state (d)."""


def simulator_of(dynamics: Dynamics) -> Simulator:
    """Who simulates these dynamics: they themselves where they can, else their equations, compiled once."""
    if isinstance(dynamics, Simulator):
        return dynamics
    if not isinstance(dynamics, NonlinearDynamics):
        raise BadInput(
            f"dynamics: {type(dynamics).__name__} cannot be simulated; give it a method next_state(state, action), or use "
            "LinearDynamics or NonlinearDynamics"
        )
    if dynamics not in _COMPILED:
        _COMPILED[dynamics] = StepSimulator(dynamics)
    return _COMPILED[dynamics]


class StepSimulator:
    """x_{h+1} = F(x_h, a_h) for numbers."""

    def __init__(self, dynamics: NonlinearDynamics) -> None:
        # Here, since casadi and Pyomo take long to load and most problems are finite.
        import casadi

        from tcbo_pyomo.models.trajectory import build_trajectory
        from tcbo_pyomo.solvers.nonlinear.programme import compile_nonlinear_model

        coordinates = dynamics.coordinates
        self._coordinates = tuple(coordinates)
        model = build_trajectory(coordinates, dynamics, np.zeros(len(coordinates)), 1)
        if hasattr(model, "move_limit"):
            # A limit of the action is not an equation of the step.
            model.move_limit.deactivate()
        state = [model.state[point, name] for point in (0, 1) for name in model.COORDINATES]
        programme = compile_nonlinear_model(model, [*state[: len(coordinates)], *model.action.values()])
        known = len(coordinates) + len(model.ACTIONS)
        unknown = len(programme.columns) - known
        lower, upper = programme.row_bounds()
        for name, low, high in zip(programme.row_names, lower, upper, strict=True):
            if low != high:
                raise BadInput(f"dynamics: '{name}' is an inequality; give it as a constraint of the plant instead")
        if len(programme.rows) != unknown:
            raise BadInput(
                f"dynamics: one step has {len(programme.rows)} equations for {unknown} unknowns "
                f"({', '.join(programme.column_names[known:][:6])}, ...); they must be equally many"
            )
        given = casadi.vertcat(programme.variables[:known], programme.parameter_symbols)
        residual = programme.expressions - casadi.DM(lower)
        equations = {"x": programme.variables[known:], "p": given, "g": residual}
        self._programme = programme
        options = {"abstol": 1e-11, "error_on_fail": False, "show_eval_warnings": False}
        self._newton = casadi.rootfinder("step", "newton", equations, options)
        self._guess = programme.start_values()[known:]
        positions = {id(column): i for i, column in enumerate(programme.columns)}
        self._next = np.array([positions[id(variable)] - known for variable in state[len(coordinates) :]])
        self._residual = casadi.Function("residual", [equations["x"], given], [residual])

    def next_state(self, state: Array, action: Array) -> Array:
        """The scaled state (d) after `action` (q) in the scaled state (d)."""
        guess = self._guess.copy()
        guess[self._next] = state
        given = np.concatenate([np.ravel(state), np.ravel(action), self._programme.parameter_values()]).astype(float)
        answer: Array = np.array(self._newton(guess, given)).ravel()
        missed = np.abs(np.array(self._residual(answer, given)).ravel()).max()
        if not missed <= 1e-8 * max(1.0, np.abs(answer).max()):
            where = ", ".join(f"{c.name}={v:g}" for c, v in zip(self._coordinates, np.ravel(state), strict=True))
            raise SolverFailed(
                f"dynamics: one step from the scaled state {where} with action {np.ravel(action).tolist()} "
                f"has no solution that Newton's method finds (residual {missed:.1e}); give the step's variables better "
                "start values"
            )
        return answer[self._next]

    def next_states(self, states: Array, actions: Array) -> Array:
        """The scaled states (n x d) after n actions (n x q) in n states; NaN where Newton's method finds no solution."""
        known = np.isfinite(states).all(axis=1)
        if not known.all():
            after = np.full(states.shape, np.nan)
            if known.any():
                after[known] = self.next_states(states[known], actions[known])
            return after
        guess = np.tile(self._guess[:, None], (1, len(states)))
        guess[self._next] = states.T
        values = np.tile(self._programme.parameter_values()[:, None], (1, len(states)))
        given = np.vstack([states.T, actions.T, values]).astype(float)
        answer: Array = np.array(self._newton(guess, given))
        missed = np.abs(np.array(self._residual(answer, given))).max(axis=0)
        found = missed <= 1e-8 * np.maximum(1.0, np.abs(answer).max(axis=0))
        return np.where(found[:, None], answer[self._next].T, np.nan)


def next_states(dynamics: Dynamics, states: Array, actions: Array) -> Array:
    """The scaled states (n x d) after n actions (n x q) in n states; NaN where the plant's equations have no solution."""
    if isinstance(dynamics, LinearDynamics):
        return states @ dynamics.state_matrix.T + actions @ dynamics.input_matrix.T
    simulator = simulator_of(dynamics)
    if isinstance(simulator, StepSimulator):
        return simulator.next_states(states, actions)
    return np.array([_one_step(simulator, *pair) for pair in zip(states, actions, strict=True)])


def _one_step(simulator: Simulator, state: Array, action: Array) -> Array:
    try:
        return np.asarray(simulator.next_state(state, action), dtype=float)
    except SolverFailed:
        return np.full(len(state), np.nan)


_COMPILED: WeakKeyDictionary[NonlinearDynamics, StepSimulator] = WeakKeyDictionary()
