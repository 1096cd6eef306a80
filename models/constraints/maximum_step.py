"""Maximum step: how far a coordinate may change in one move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation, transition_endpoints
from tcbo_pyomo.plant.process import Process

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


class MaximumStep(TransitionConstraint):
    """|x_{h+1} - x_h| <= limit for each coordinate named, in its own unit.

    Parameters
    ----------
    limits
        `{"temperature": 5}` or, where falling and rising differ, `{"temperature": (2, 5)}`; numbers or
        Pyomo quantities.
    """

    def __init__(self, limits: Mapping[str, Any]) -> None:
        if not isinstance(limits, Mapping) or not limits:
            raise BadInput(f"maximum_step: limits {limits!r} must give at least one coordinate and its limit")
        self.limits = dict(limits)

    def allowed_transitions(self, process: Process) -> Mask:
        """Moves whose every outcome stays within the limits."""
        left, right = transition_endpoints(process)
        allowed = np.ones(len(left), dtype=bool)
        for axis, down, up in self._numbers(process.coordinates):
            change = right[:, axis] - left[:, axis]
            slack = 1e-9 * process.coordinates[axis].width
            allowed &= (change >= -down - slack) & (change <= up + slack)
        return allowed

    def add_to_trajectory(self, model: ConcreteModel) -> None:
        """-down <= x_{h+1} - x_h <= up for each step, as shares of the axis."""
        from pyomo.environ import Constraint

        from tcbo_pyomo.models.trajectory import add_component

        limits = {
            axis.name: (-down / axis.width, up / axis.width)
            for axis, down, up in ((model.coordinates[i], *limits) for i, *limits in self._numbers(model.coordinates))
        }

        def rule(_: Any, step: int, name: str) -> Any:
            low, high = limits[name]
            return low, model.state[step + 1, name] - model.state[step, name], high

        add_component(model, "maximum_step", Constraint(model.STEPS, list(limits), rule=rule))

    def violations(self, coordinates: Sequence[Coordinate], path: Array, complete: bool) -> list[Violation]:
        """Each step that is larger than its limit."""
        found = []
        for axis, down, up in self._numbers(coordinates):
            coordinate = coordinates[axis]
            slack = 1e-6 * coordinate.width
            for step, change in enumerate(np.diff(path[:, axis])):
                if not -down - slack <= change <= up + slack:
                    text = f"{coordinate.title} changed by {change:g}, allowed is {-down:g} to {up:g}"
                    found.append(Violation(self.name, step, text))
        return found

    def _numbers(self, coordinates: Sequence[Coordinate]) -> list[tuple[int, float, float]]:
        """(axis, largest fall, largest rise), in the coordinate's unit."""
        numbers = []
        for name, limit in self.limits.items():
            axis = coordinate_index(coordinates, name)
            down, up = limit if isinstance(limit, (tuple, list)) else (limit, limit)
            values = coordinates[axis].value_of(down), coordinates[axis].value_of(up)
            if min(values) < 0:
                raise BadInput(f"maximum_step: limit of '{name}' is {limit!r}; it must not be negative")
            numbers.append((axis, *values))
        return numbers
