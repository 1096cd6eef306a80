"""End at: where the plant must be after the last move, as the boat that must be back at the port (section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index
from tcbo_pyomo.foundation.wording import counted, spaced
from tcbo_pyomo.models.components import PyomoModel, add_component
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Usage, Violation
from tcbo_pyomo.models.episode_path import SAME_PLACE, EpisodePath
from tcbo_pyomo.models.regions.regions import distance_to

if TYPE_CHECKING:
    from tcbo_pyomo.plant.process import Process


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
        distance = distance_to(self.point, process.coordinates, process.states)
        if distance.min() > SAME_PLACE:
            near = process.labels[int(distance.argmin())]
            raise BadInput(f"end_at: no state at {self._text()}; the nearest is '{near}'")
        return distance <= SAME_PLACE

    def add_to_trajectory(self, model: PyomoModel) -> None:
        """One equality per coordinate named, on the last state."""
        from pyomo.environ import Constraint

        targets = {}
        for name, target in self.point.items():
            axis = model.coordinates[coordinate_index(model.coordinates, name)]
            targets[name] = (axis.value_of(target) - axis.lower) / axis.width - 0.5
            if not -0.5 - SAME_PLACE <= targets[name] <= 0.5 + SAME_PLACE:
                bounds = f"{axis.lower:g} to {axis.upper:g}"
                raise BadInput(f"end_at: {axis.title} {target} is outside its bounds {bounds}; end inside them")

        def rule(_: Any, name: str) -> Any:
            return model.state[model.POINTS.last(), name] == targets[name]

        add_component(model, "end_at", Constraint(list(targets), rule=rule))

    @property
    def end_point(self) -> Mapping[str, Any]:
        """The point itself."""
        return self.point

    def describe(self, coordinates: Sequence[Coordinate]) -> str:
        """`end at x 3.1 km, y 0.2 km`."""
        ends = ((coordinates[coordinate_index(coordinates, name)], value) for name, value in self.point.items())
        return "end at " + ", ".join(c.in_words(c.value_of(value)) for c, value in ends)

    def arguments(self, coordinates: Sequence[Coordinate]) -> dict[str, Any]:
        """The point."""
        ends = ((coordinates[coordinate_index(coordinates, name)], value) for name, value in self.point.items())
        return {"point": {c.name: value if type(value) in (int, float) else c.value_of(value) for c, value in ends}}

    def violations(self, path: EpisodePath) -> list[Violation]:
        """Whether a finished path ended elsewhere."""
        if not path.complete or distance_to(self.point, path.coordinates, path.points[-1:])[0] <= SAME_PLACE:
            return []
        ended = f"the episode ended at {path.points[-1].tolist()}, not at {self._text()}"
        return [Violation(self.name, path.moves - 1, ended)]

    def allows_next(self, path: EpisodePath, points: Array, last: bool) -> Mask:
        """Any move but the last, which must arrive there."""
        here = np.ones(len(points), dtype=bool)
        return distance_to(self.point, path.coordinates, points) <= SAME_PLACE if last else here

    def slack(self, path: EpisodePath) -> None:
        """None: an end is met or missed, with nothing in between."""

    def usage(self, paths: Sequence[EpisodePath], now: EpisodePath | None) -> list[Usage]:
        """Whether the end can still be reached."""
        limit = spaced(self.describe((now or paths[0]).coordinates))
        if now is None or now.judge is None:
            return [Usage(limit, "every episode has ended")]
        left, sure = f"{counted(now.judge.horizon - now.moves, 'move')} left in this episode", now.judge.can_end(now)
        if sure is None:
            return [Usage(limit, f"{left}; every plan ends there")]
        return [Usage(limit, f"{left}: {'it can be reached' if sure else 'it cannot be reached with certainty'}")]

    def _text(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.point.items())
