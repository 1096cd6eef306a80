"""Limits of the actions of a continuous plant: a box, or the paper's ||a_h|| <= a_max (section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


class ActionLimits(Protocol):
    """Names and limits of q actions."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the actions; None until the number of actions is known."""

    def named(self, number: int) -> ActionLimits:
        """The same limits for `number` actions, with names."""

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bound of each action (q)."""

    def add_to_trajectory(self, model: ConcreteModel) -> None:
        """Add what bounds on the single actions do not say."""

    def clip(self, action: Array) -> Array:
        """The allowed action nearest to one that is wanted; one (q) or many (n x q)."""


@dataclass(frozen=True)
class BoxActions:
    """lower <= a <= upper for each action.

    Parameters
    ----------
    limits
        `{"set_point": (20, 120), "valve": 0.5}` (0.5 means -0.5 to 0.5), or one number for all actions.
    """

    limits: Mapping[str, Any] | float

    def __post_init__(self) -> None:
        if isinstance(self.limits, Mapping) and not self.limits:
            raise BadInput("box_actions: name at least one action and its limit")
        self.bounds()

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names given, if any."""
        return tuple(self.limits) if isinstance(self.limits, Mapping) else None

    def named(self, number: int) -> BoxActions:
        """One limit per action."""
        if not isinstance(self.limits, Mapping):
            return BoxActions({name: self.limits for name in _default_names(number)})
        _check_number(self.limits, number)
        return self

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bound of each action (q)."""
        lower, upper = self._intervals
        return lower.copy(), upper.copy()

    @cached_property
    def _intervals(self) -> tuple[Array, Array]:
        """The bounds, read and checked once."""
        limits = self.limits if isinstance(self.limits, Mapping) else {"": self.limits}
        intervals = np.array([_interval(name, limit) for name, limit in limits.items()])
        return intervals[:, 0], intervals[:, 1]

    def add_to_trajectory(self, model: ConcreteModel) -> None:
        """Nothing: bounds say it all."""

    def clip(self, action: Array) -> Array:
        """Each action cut to its interval."""
        return np.clip(action, *self._intervals)


@dataclass(frozen=True)
class NormActions:
    """sqrt(sum_i a_i^2) <= maximum.

    Parameters
    ----------
    maximum
        a_max, positive.
    names
        Names of the actions. Default: "action_0", ...
    """

    maximum: float
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not _is_number(self.maximum) or not self.maximum > 0:
            raise BadInput(f"norm_actions: maximum {self.maximum!r} must be a positive finite number")
        if self.names is not None:
            object.__setattr__(self, "names", tuple(self.names))

    def named(self, number: int) -> NormActions:
        """The same maximum, with names."""
        if self.names is None:
            return replace(self, names=_default_names(number))
        _check_number(self.names, number)
        return self

    def bounds(self) -> tuple[Array, Array]:
        """The box around the ball."""
        limit = np.full(len(self.names or ()), float(self.maximum))
        return -limit, limit

    def add_to_trajectory(self, model: ConcreteModel) -> None:
        """One row per step, squared and divided by a_max^2 so that it is smooth and of order one."""
        from pyomo.environ import Constraint

        def move_limit(model: ConcreteModel, step: int) -> Any:
            return sum((model.action[step, name] / self.maximum) ** 2 for name in model.ACTIONS) <= 1.0

        model.move_limit = Constraint(model.STEPS, rule=move_limit)

    def clip(self, action: Array) -> Array:
        """The action shortened to the maximum."""
        length = np.linalg.norm(action, axis=-1, keepdims=True)
        return action * np.minimum(1.0, self.maximum / np.maximum(length, 1e-300))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and math.isfinite(value)


def _interval(name: str, limit: Any) -> tuple[float, float]:
    low, high = limit if isinstance(limit, (tuple, list)) and len(limit) == 2 else (_negative(limit), limit)
    if not (_is_number(low) and _is_number(high) and low < high):
        what = f"box_actions: limit of '{name}'" if name else "box_actions: limit"
        raise BadInput(f"{what} {limit!r} must be a positive number or (lower, upper), finite, lower below upper")
    return float(low), float(high)


def _negative(limit: Any) -> Any:
    return -limit if _is_number(limit) else limit


def _default_names(number: int) -> tuple[str, ...]:
    return tuple(f"action_{i}" for i in range(number))


def _check_number(names: Sequence[str] | Mapping[str, Any], number: int) -> None:
    if len(names) != number:
        raise BadInput(
            f"actions: {len(names)} named ({', '.join(names)}), but the input matrix has {number} columns; "
            "name each once"
        )
