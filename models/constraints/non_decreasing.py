"""Non-decreasing: a coordinate that may only grow, as the residence time of a transient flow reactor (section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index
from tcbo_pyomo.models.components import PyomoModel, add_component
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation, transition_endpoints
from tcbo_pyomo.models.episode_path import EpisodePath

if TYPE_CHECKING:
    from tcbo_pyomo.plant.process import Process


class NonDecreasing(TransitionConstraint):
    """x_{h+1} >= x_h for one coordinate, within an episode."""

    direction: ClassVar[int] = 1
    may_end_early: ClassVar[bool] = True

    def __init__(self, coordinate: str) -> None:
        self.coordinate = coordinate

    def allowed_transitions(self, process: Process) -> Mask:
        """Moves whose every outcome goes the allowed way."""
        axis = coordinate_index(process.coordinates, self.coordinate)
        left, right = transition_endpoints(process)
        change = self.direction * (right[:, axis] - left[:, axis])
        return change >= -1e-9 * process.coordinates[axis].width

    def lets_return(self, coordinates: Sequence[Coordinate]) -> bool:
        """There is no way back."""
        return False

    def add_to_trajectory(self, model: PyomoModel) -> None:
        """One linear row per step, in scaled coordinates."""
        from pyomo.environ import Constraint

        name = model.coordinates[coordinate_index(model.coordinates, self.coordinate)].name

        def rule(_: Any, step: int) -> Any:
            return self.direction * (model.state[step + 1, name] - model.state[step, name]) >= 0.0

        add_component(model, self.short_name, Constraint(model.STEPS, rule=rule))

    def describe(self, coordinates: Sequence[Coordinate]) -> str:
        """`residence_time may not fall`."""
        name = coordinates[coordinate_index(coordinates, self.coordinate)].name
        return f"{name} may not {'fall' if self.direction > 0 else 'rise'}"

    def arguments(self, coordinates: Sequence[Coordinate]) -> dict[str, Any]:
        """The coordinate."""
        return {"coordinate": self.coordinate}

    def violations(self, path: EpisodePath) -> list[Violation]:
        """Each step that goes the wrong way."""
        axis = coordinate_index(path.coordinates, self.coordinate)
        values, coordinate = path.points[:, axis], path.coordinates[axis]
        wrong = np.flatnonzero(self.direction * np.diff(values) < -1e-6 * coordinate.width)
        went = f"{coordinate.title} {'fell' if self.direction > 0 else 'rose'}"
        return [Violation(self.name, int(h), f"{went} from {values[h]:g} to {values[h + 1]:g}") for h in wrong]

    def slack(self, path: EpisodePath) -> None:
        """None: a direction is kept or broken, with nothing in between."""
