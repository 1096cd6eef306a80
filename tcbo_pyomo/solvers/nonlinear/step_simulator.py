"""One step of nonlinear dynamics as numbers, from the same Pyomo expressions that the plan uses.

The equations of one step, with whatever variables the user's function adds (such as a discretised ODE), are
compiled once and solved by Newton's method for the next state; where the next state is given explicitly, one
iteration does it. A user's whole model goes to IPOPT where Newton's method fails.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np

from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical, scaled
from tcbo_pyomo.plant.dynamics import Dynamics, LinearDynamics, NonlinearDynamics
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.solvers.nonlinear.square_system import SquareSystem
from tcbo_pyomo.solvers.nonlinear.step_limits import StepLimits


@runtime_checkable
class Simulator(Protocol):
    """What can make one step with numbers."""

    def next_state(self, state: Array, action: Array) -> Array:
        """The scaled state (d) after `action` (q) in the scaled state (d)."""


def simulator_of(dynamics: Dynamics) -> Simulator:
    """Who simulates these dynamics: they themselves where they can, else their equations, compiled once."""
    # A look at a protocol takes longer than a step; the package's own dynamics do not need one.
    if isinstance(dynamics, NonlinearDynamics) and dynamics in _COMPILED:
        return _COMPILED[dynamics]
    if isinstance(dynamics, Simulator):
        return dynamics
    if not isinstance(dynamics, NonlinearDynamics):
        raise BadInput(
            f"dynamics: {type(dynamics).__name__} cannot be simulated; give it a method next_state(state, action), or use "
            "LinearDynamics or NonlinearDynamics"
        )
    return _COMPILED.setdefault(dynamics, StepSimulator(dynamics))


class StepSimulator:
    """x_{h+1} = F(x_h, a_h) for numbers."""

    def __init__(self, dynamics: NonlinearDynamics) -> None:
        # Here, since casadi and Pyomo take long to load and most problems are finite.
        import casadi

        from tcbo_pyomo.models.trajectory import build_trajectory
        from tcbo_pyomo.solvers.nonlinear.programme import compile_nonlinear_model

        coordinates = dynamics.coordinates
        self._coordinates = tuple(coordinates)
        self._function: Any = dynamics.function
        self._action_names = dynamics.actions.names or ()
        model = build_trajectory(coordinates, dynamics, np.zeros(len(coordinates)), 1)
        if hasattr(model, "move_limit"):
            # A limit of the action is not an equation of the step.
            model.move_limit.deactivate()
        inside, formulas, within, limits = [], [], [], []
        if isinstance(dynamics, ModelDynamics):
            links = dynamics.links(model, 0)
            inside, formulas, within, limits = links.columns, links.formulas, links.within, links.limits
            for row in limits:
                # What the model limits is for a plan to keep; the plant does what it does.
                row.deactivate()
        state = [model.state[point, name] for point in (0, 1) for name in model.COORDINATES]
        programme = compile_nonlinear_model(model, [*state[: len(coordinates)], *model.action.values()], formulas)
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
        self._programme, self._limits = programme, StepLimits(model, programme, formulas, limits, known)
        low, high = (bound[known:] for bound in programme.column_bounds())
        self._system = SquareSystem(equations, low, high, is_model=bool(inside))
        self._guess = programme.start_values()[known:]
        positions = {id(column): i for i, column in enumerate(programme.columns)}
        self._next = np.array([positions[id(variable)] - known for variable in state[len(coordinates) :]])
        self._inside = np.array([positions[id(variable)] - known for variable in inside], dtype=int)
        # A state that a formula gives is the value of that formula.
        defined = {id(variable): -1 - i for i, variable in enumerate(programme.defined)}
        places = {**{identity: at - known for identity, at in positions.items()}, **defined}
        self._within = [(share, [places[id(variable)] for variable in states]) for share, states in within]
        if isinstance(dynamics, ModelDynamics):
            # The model's own start under middling inputs is what Newton's method begins with.
            own = [dynamics.start.get(c.name, 0.5 * (c.lower + c.upper)) for c in coordinates]
            begin = np.clip(scaled(coordinates, own), -0.5, 0.5)
            answer, _ = self._solve(begin, np.mean(dynamics.actions.bounds(), axis=0))
            self._guess = answer if np.isfinite(answer).all() else self._guess

    def next_state(self, state: Array, action: Array) -> Array:
        """The scaled state (d) after `action` (q) in the scaled state (d)."""
        answer, missed = self._solve(state, action)
        if not missed <= self._system.allowed(answer):
            where = ", ".join(f"{c.name}={v:g}" for c, v in zip(self._coordinates, np.ravel(state), strict=True))
            raise SolverFailed(
                f"dynamics: one step from the scaled state {where} with action {np.ravel(action).tolist()} "
                f"has no solution that Newton's method finds (residual {missed:.1e}); give the step's variables better "
                "start values, or make the step shorter or its discretisation finer"
            )
        return answer[self._next]

    def next_states(self, states: Array, actions: Array, within_limits: bool = False) -> Array:
        """The scaled states (n x d) after n actions (n x q) in n states; NaN where Newton's method finds no solution.

        And, with `within_limits`, where a step breaks an inequality or a bound of the user's model.
        """
        known = np.isfinite(states).all(axis=1)
        if not known.all():
            after = np.full(states.shape, np.nan)
            if known.any():
                after[known] = self.next_states(states[known], actions[known], within_limits)
            return after
        guess = np.tile(self._guess[:, None], (1, len(states)))
        guess[self._next] = states.T
        values = np.tile(self._programme.parameter_values()[:, None], (1, len(states)))
        given = np.vstack([states.T, actions.T, values]).astype(float)
        answer, missed = self._system.solve_many(guess, given)
        found = missed <= self._system.allowed(answer)
        if within_limits and len(self._inside):
            found &= self._limits.kept(np.vstack([states.T, actions.T, answer]))
        return np.where(found[:, None], answer[self._next].T, np.nan)

    def broken_limit(self, state: Array, action: Array) -> str:
        """The name of the limit of a user's model that a step breaks; empty where it keeps all of them."""
        if not len(self._inside):
            return ""
        answer, _ = self._solve(state, action)
        return self._limits.broken(np.concatenate([np.ravel(state), np.ravel(action), answer]))

    def inside(self, state: Array, action: Array) -> Array:
        """The values of the variables inside a step of a user's model, in the order of `Links.columns`."""
        answer, _ = self._solve(state, action)
        return (answer if np.isfinite(answer).all() else self._guess)[self._inside]

    def within(self, state: Array, action: Array, number: int) -> Array:
        """The scaled state (d) at a finite element inside a step of a user's model."""
        answer, _ = self._solve(state, action)
        share, places = self._within[number]
        given = self.formulas(state, action) if any(place < 0 for place in places) else answer
        values = [float(answer[place]) if place >= 0 else float(given[-1 - place]) for place in places]
        coordinates, function = self._coordinates, self._function
        engineering = dict(zip([c.name for c in coordinates], physical(coordinates, np.ravel(state)), strict=True))
        decided = dict(zip(self._action_names, np.ravel(action).tolist(), strict=True))
        return scaled(coordinates, function.written(values, engineering, decided, share))

    def formulas(self, state: Array, action: Array) -> Array:
        """The values of the variables inside a step that formulas give, in the order of `Links.formulas`."""
        answer, _ = self._solve(state, action)
        return self._programme.defined_values(np.concatenate([np.ravel(state), np.ravel(action), answer]))

    def _solve(self, state: Array, action: Array) -> tuple[Array, float]:
        """The unknowns of a step, and by how much its equations are missed."""
        guess = self._guess.copy()
        guess[self._next] = state
        given = np.concatenate([np.ravel(state), np.ravel(action), self._programme.parameter_values()]).astype(float)
        return self._system.solve(guess, given)


def next_states(dynamics: Dynamics, states: Array, actions: Array, within_limits: bool = False) -> Array:
    """The scaled states (n x d) after n actions (n x q) in n states; NaN where the plant's equations have no solution.

    And, with `within_limits`, where a step breaks a limit that a user's model has itself.
    """
    if isinstance(dynamics, LinearDynamics):
        return states @ dynamics.state_matrix.T + actions @ dynamics.input_matrix.T
    simulator = simulator_of(dynamics)
    if isinstance(simulator, StepSimulator):
        return simulator.next_states(states, actions, within_limits)
    return np.array([_one_step(simulator, *pair) for pair in zip(states, actions, strict=True)])


def _one_step(simulator: Simulator, state: Array, action: Array) -> Array:
    try:
        return np.asarray(simulator.next_state(state, action), dtype=float)
    except SolverFailed:
        return np.full(len(state), np.nan)


_COMPILED: WeakKeyDictionary[NonlinearDynamics, StepSimulator] = WeakKeyDictionary()
