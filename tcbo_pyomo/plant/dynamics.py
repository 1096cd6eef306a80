"""Dynamics of a continuous plant: how the state answers an action (section 4.2).

The paper plans with x_{h+1} = A x_h + B a_h and ||a_h|| <= a_max. Here the right-hand side may also be any
smooth function that can be written as Pyomo expressions. States are scaled points of [-0.5, 0.5]^d
everywhere; actions have the unit their limits are given in (scaled coordinates for `LinearDynamics`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tcbo_pyomo.errors import BadInput, TcboError, suggestion
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import NUMBERS, Coordinate
from tcbo_pyomo.foundation.user_lines import defined_at
from tcbo_pyomo.plant.actions import ActionLimits, BoxActions

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

STABILITY_SLACK = 1e-9
"""Rounding allowed on the spectral radius of A."""


class Dynamics(Protocol):
    """What a trajectory model needs to know about a plant."""

    @property
    def actions(self) -> ActionLimits:
        """Names and limits of the actions."""

    @property
    def is_free_move(self) -> bool:
        """Whether the action is the scaled move itself."""

    def check_dimension(self, coordinates: Sequence[Coordinate]) -> None:
        """Refuse coordinates these dynamics do not fit."""

    def next_values(self, model: ConcreteModel, step: int) -> dict[str, Any]:
        """Pyomo expressions of the scaled next state, by coordinate name."""


@dataclass(frozen=True, eq=False)
class LinearDynamics:
    """x_{h+1} = A x_h + B a_h in scaled coordinates.

    Parameters
    ----------
    state_matrix
        A, d x d; no eigenvalue may be larger than 1 in modulus.
    input_matrix
        B, d x q.
    actions
        `BoxActions` or `NormActions` for the q actions.
    """

    state_matrix: Array
    input_matrix: Array
    actions: ActionLimits

    def __post_init__(self) -> None:
        state, inputs = _matrix("state_matrix", self.state_matrix), _matrix("input_matrix", self.input_matrix)
        if state.shape[0] != state.shape[1]:
            raise BadInput(f"state_matrix: shape {state.shape} must be square, one row per coordinate")
        if len(inputs) != len(state):
            raise BadInput(f"input_matrix: shape {inputs.shape} must have {len(state)} rows, one per coordinate")
        eigenvalues = np.linalg.eigvals(state)
        largest = eigenvalues[int(np.abs(eigenvalues).argmax())]
        if abs(largest) > 1.0 + STABILITY_SLACK:
            raise BadInput(
                f"state_matrix: unstable, its eigenvalue {largest:.6g} has modulus {abs(largest):.6g}; at most 1 is "
                "allowed; close the control loop or plan with shorter steps"
            )
        object.__setattr__(self, "state_matrix", state)
        object.__setattr__(self, "input_matrix", inputs)
        object.__setattr__(self, "actions", self.actions.named(inputs.shape[1]))

    @classmethod
    def free_moves(cls, dimension: int, actions: ActionLimits | None = None) -> LinearDynamics:
        """A = B = I: the action is the move itself, as in the paper's synthetic benchmarks.

        `actions` are limits in scaled coordinates, in which every axis has the length 1. Without them one move leads
        anywhere; `MaximumStep` limits it in the units of the axes.
        """
        return cls(np.eye(dimension), np.eye(dimension), BoxActions(1.0) if actions is None else actions)

    @cached_property
    def is_free_move(self) -> bool:
        """Whether A = B = I."""
        identity = np.eye(len(self.state_matrix))
        return np.array_equal(self.state_matrix, identity) and np.array_equal(self.input_matrix, identity)

    def part(self, share: float) -> LinearDynamics:
        """The dynamics of the first share of a step, its action held: the power of [[A, B], [0, I]].

        Exact for a plant in continuous time whose steps were computed for held actions (matrix exponential), and where the
        action is the move itself, at a constant pace.
        """
        if self.is_free_move:
            return LinearDynamics(self.state_matrix, share * self.input_matrix, self.actions)
        from scipy.linalg import expm, logm  # Slow to load, and most plants are measured at the ends of their moves.

        states, inputs = self.input_matrix.shape
        lower = np.eye(states + inputs)[states:]
        whole = np.vstack([np.hstack([self.state_matrix, self.input_matrix]), lower])
        singular = abs(np.linalg.det(self.state_matrix)) < STABILITY_SLACK
        rates = np.zeros_like(whole) if singular else logm(whole)
        if singular or np.abs(np.imag(rates)).max() > STABILITY_SLACK or not np.allclose(expm(np.real(rates)), whole):
            raise BadInput(
                "state_matrix: no motion in continuous time makes these steps (an eigenvalue is 0 or negative), so that where "
                "the plant is within a step is not known; measure at the ends of moves"
            )
        moved = expm(share * np.real(rates))[:states]
        return LinearDynamics(moved[:, :states], moved[:, states:], self.actions)

    def check_dimension(self, coordinates: Sequence[Coordinate]) -> None:
        """Refuse another number of coordinates than A has rows."""
        if len(coordinates) != len(self.state_matrix):
            names = ", ".join(c.name for c in coordinates)
            raise BadInput(
                f"state_matrix: {len(self.state_matrix)} rows, but there are {len(coordinates)} coordinates "
                f"({names}); give one row per coordinate"
            )

    def next_values(self, model: ConcreteModel, step: int) -> dict[str, Any]:
        """Rows of A x_h + B a_h as Pyomo expressions."""
        return self.rows(model, step, list(model.COORDINATES))

    def rows(self, model: ConcreteModel, step: int, names: Sequence[str]) -> dict[str, Any]:
        """Rows of A x_h + B a_h for the coordinates with these names."""
        actions = list(model.ACTIONS)
        return {
            name: sum(float(a) * model.state[step, other] for a, other in zip(row, names, strict=True) if a)
            + sum(float(b) * model.action[step, action] for b, action in zip(inputs, actions, strict=True) if b)
            for name, row, inputs in zip(names, self.state_matrix, self.input_matrix, strict=True)
        }

    def next_state(self, state: Array, action: Array) -> Array:
        """A x + B a."""
        moved: Array = self.state_matrix @ np.asarray(state, dtype=float)
        return moved + self.input_matrix @ np.asarray(action, dtype=float)


@dataclass(frozen=True, eq=False)
class NonlinearDynamics:
    """x_{h+1} = F(x_h, a_h), written by the user in engineering units.

    Parameters
    ----------
    coordinates
        The axes of the plant.
    function
        `function(model, step)` returns `{coordinate: expression of its next value}` in engineering units,
        built of
        `model.physical[step, name]` and `model.action[step, name]`. It may add variables and equations to the
        model, such as a Block with an ODE that pyomo.dae has discretised over one step.
    actions
        Named limits in engineering units. IPOPT works best when they are of the order of 1 to 1000.
    """

    coordinates: Sequence[Coordinate]
    function: Callable[[ConcreteModel, int], Mapping[str, Any]]
    actions: ActionLimits
    is_free_move: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise BadInput(f"dynamics function {self.function!r} must be a function of (model, step)")
        if self.actions.names is None:
            raise BadInput("dynamics: the actions need names; use BoxActions({'set_point': (20, 120)}) or names=...")

    def check_dimension(self, coordinates: Sequence[Coordinate]) -> None:
        """Refuse other coordinates than the function was written for."""
        if tuple(coordinates) != tuple(self.coordinates):
            raise BadInput(
                f"dynamics: written for {', '.join(c.name for c in self.coordinates)}, but used with "
                f"{', '.join(c.name for c in coordinates)}; the coordinates must be the same"
            )

    def next_values(self, model: ConcreteModel, step: int) -> dict[str, Any]:
        """What the user's function gives, scaled; an error inside it is shown as such."""
        where = f"dynamics function '{getattr(self.function, '__name__', 'function')}' at step {step}"
        try:
            answer = self.function(model, step)
        except TcboError:
            raise
        except Exception as error:
            raise BadInput(f"{where} failed: {type(error).__name__}: {error}") from error
        place = f" ({found})" if (found := defined_at(self.function)) else ""
        if not isinstance(answer, Mapping):
            raise BadInput(f"{where} returned a {type(answer).__name__}; it must return a mapping by coordinate{place}")
        for name, value in answer.items():
            number = isinstance(value, NUMBERS) and not isinstance(value, bool)
            if not number and not hasattr(value, "is_expression_type"):
                kind = type(value).__name__
                raise BadInput(f"{where}: next value of '{name}' is a {kind}; give a number or an expression{place}")
        names = [c.name for c in self.coordinates]
        for name in answer:
            if name not in names:
                raise BadInput(f"{where}: unknown coordinate '{name}'; {suggestion(str(name), names)}{place}")
        missing = [name for name in names if name not in answer]
        if missing:
            raise BadInput(f"{where}: no next value of {', '.join(missing)}; give all of {', '.join(names)}{place}")
        return {c.name: (answer[c.name] - c.lower) / c.width - 0.5 for c in self.coordinates}


def _matrix(name: str, value: ArrayLike) -> Array:
    try:
        matrix = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name}: {value!r} must be a matrix of numbers ({error})") from error
    if matrix.ndim != 2 or matrix.size == 0:
        raise BadInput(f"{name}: shape {matrix.shape} must be a matrix, rows by columns")
    if not np.isfinite(matrix).all():
        raise BadInput(f"{name}: {matrix.tolist()} must be finite")
    return matrix
