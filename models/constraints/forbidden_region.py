"""Forbidden region: walls and zones the plant may neither enter nor pass through (section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation, transition_endpoints
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.models.regions.region_data import region_data
from tcbo_pyomo.models.regions.regions import Region

if TYPE_CHECKING:
    from tcbo_pyomo.plant.process import Process


class ForbiddenRegion(TransitionConstraint):
    """No state inside the region and, unless `crossing` is allowed, no straight move through it.

    Parameters
    ----------
    region
        A `Box`, `Circle`, `Polygon`, `Wall` or `Points`, or any object with `contains` and `crossed_by`.
    crossing
        True if a move may pass through the region and only ending inside is forbidden.
    """

    may_end_early: ClassVar[bool] = True

    def __init__(self, region: Region, crossing: bool = False) -> None:
        self.region = region
        self.crossing = crossing

    def allowed_transitions(self, process: Process) -> Mask:
        """Moves that neither end in the region nor pass through it."""
        return ~self._broken(process.coordinates, *transition_endpoints(process))

    def allowed_points(self, coordinates: Sequence[Coordinate], points: Array) -> Mask:
        """Points outside the region."""
        return ~self.region.contains(coordinates, points)

    def add_to_trajectory(self, model: PyomoModel) -> None:
        """Put a plane between the region and every point and, unless `crossing`, every straight move."""
        from tcbo_pyomo.models.regions.keep_out import keep_out

        keep_out(self.region, model, self.crossing)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The region."""
        return (self.region,)

    def describe(self, coordinates: Sequence[Coordinate]) -> str:
        """`keep out of` where moves may not pass through either, else `stay out of`."""
        return f"{'stay' if self.crossing else 'keep'} out of {self.region}"

    def arguments(self, coordinates: Sequence[Coordinate]) -> dict[str, Any] | None:
        """The region, if it is one of ours."""
        region = region_data(self.region, coordinates)
        return None if region is None else {"region": region, "crossing": bool(self.crossing)}

    def violations(self, path: EpisodePath) -> list[Violation]:
        """Each step that enters or passes through the region."""
        broken = np.flatnonzero(self._broken(path.coordinates, path.left, path.right))
        points = path.points.tolist() if len(broken) else []
        return [
            Violation(self.name, int(h), f"the move {points[h]} -> {points[h + 1]} enters {self.region}")
            for h in broken
        ]

    def allows_next(self, path: EpisodePath, points: Array, last: bool) -> Mask:
        """All moves in one question to the region."""
        return ~self._broken(path.coordinates, np.repeat(path.points[-1:], len(points), axis=0), points)

    def slack(self, path: EpisodePath) -> None:
        """None: a region is entered or not, with nothing in between."""

    def _broken(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Mask:
        if self.crossing:
            return self.region.contains(coordinates, right)
        return self.region.crossed_by(coordinates, left, right)
