"""End at: where the plant must be after the last move, as the boat that must be back at the port (section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation
from tcbo_pyomo.plant.process import Process

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

TOLERANCE = 1e-6
"""How far from the end point still counts as being there, as a share of the axis."""


class EndAt(TransitionConstraint):
    """x_H equals a point; only the coordinates named must match.

    Parameters
    ----------
    point
        `{"x": 3.1, "y": 0.2}` in engineering units.
    """

    def __init__(self, point: Mapping[str, Any]) -> None:
        if not isinstance(point, Mapping) or not point:
            raise BadInput(f"end_at: point {point!r} must give at least one coordinate and its final value")
        self.point = dict(point)

    def allowed_states(self, process: Process, step: int, horizon: int) -> Mask | None:
        """Only the end point, after the last move."""
        if step < horizon:
            return None
        distance = self._distance(process.coordinates, process.states)
        if distance.min() > TOLERANCE:
            near = process.labels[int(distance.argmin())]
            raise BadInput(f"end_at: no state at {self._text()}; the nearest is '{near}'")
        return distance <= TOLERANCE

    def add_to_trajectory(self, model: ConcreteModel) -> None:
        """One equality per coordinate named, on the last state."""
        from pyomo.environ import Constraint

        from tcbo_pyomo.models.trajectory import add_component

        targets = {}
        for name, target in self.point.items():
            axis = model.coordinates[coordinate_index(model.coordinates, name)]
            targets[name] = (axis.value_of(target) - axis.lower) / axis.width - 0.5
            if not -0.5 - TOLERANCE <= targets[name] <= 0.5 + TOLERANCE:
                raise BadInput(
                    f"end_at: {axis.title} {target} is outside its bounds {axis.lower:g} to {axis.upper:g}; "
                    "end inside them"
                )

        def rule(_: Any, name: str) -> Any:
            return model.state[model.POINTS.last(), name] == targets[name]

        add_component(model, "end_at", Constraint(list(targets), rule=rule))

    def violations(self, coordinates: Sequence[Coordinate], path: Array, complete: bool) -> list[Violation]:
        """Whether a finished path ended elsewhere."""
        if not complete or self._distance(coordinates, path[-1:])[0] <= TOLERANCE:
            return []
        return [Violation(self.name, len(path) - 2, f"the episode ended at {path[-1].tolist()}, not at {self._text()}")]

    def _distance(self, coordinates: Sequence[Coordinate], points: Array) -> Array:
        """Largest distance from the end point over the coordinates named, as a share of each axis."""
        distance = np.zeros(len(points))
        for name, target in self.point.items():
            axis = coordinate_index(coordinates, name)
            gap = np.abs(points[:, axis] - coordinates[axis].value_of(target)) / coordinates[axis].width
            distance = np.maximum(distance, gap)
        return distance

    def _text(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.point.items())
