"""Visit budget: at most k expected visits to a set of states in an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.regions.region_data import region_data
from tcbo_pyomo.models.regions.regions import Region

if TYPE_CHECKING:
    from tcbo_pyomo.plant.process import Process

Where: TypeAlias = Region | Callable[[Mapping[str, Array]], Any]


class VisitBudget(Budget):
    """sum_h P(x_{h+1} in region) <= limit over the episode; visits already made count, the start does not.

    Parameters
    ----------
    region
        A region, or a function of `{coordinate: array}` that says which points count.
    limit
        How many visits an episode may make.
    """

    def __init__(self, region: Where, limit: float, name: str = "visits") -> None:
        super().__init__(name, limit)
        self.region = region

    def move_costs(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Array:
        """One for each move that arrives in the region."""
        return self._inside(coordinates, right).astype(float)

    def transition_cost(self, process: Process) -> Array:
        """One for each stored transition that arrives in the region; every state is looked at once."""
        return self._inside(process.coordinates, process.states)[process.transitions.indices].astype(float)

    def excess(self, spent: float) -> str:
        """`visit 3, allowed are 2`."""
        return f"visit {spent:g}, allowed are {self.limit:g}"

    def add_to_trajectory(self, model: PyomoModel) -> None:
        """A budget below one visit forbids the region; any other needs counting, which is not smooth."""
        if self.limit >= 1 or callable(self.region):
            raise BadInput(
                f"constraint '{self.name}': the number of visits of a path is not a smooth function, so a continuous plan can "
                f"only forbid a region (limit below 1, received {self.limit:g}, with a Circle, Box, Polygon or Wall); use a "
                "resource_budget with a smooth cost instead"
            )
        ForbiddenRegion(self.region, crossing=True).add_to_trajectory(model)

    def arguments(self, coordinates: Sequence[Coordinate]) -> dict[str, Any] | None:
        """The region, if it is one of ours, and how many visits."""
        region = region_data(self.region, coordinates)
        return None if region is None else {"region": region, "limit": self.limit, "name": self.label}

    def _inside(self, coordinates: Sequence[Coordinate], points: Array) -> Mask:
        if callable(self.region):
            values = {c.name: column for c, column in zip(coordinates, points.T, strict=True)}
            return np.broadcast_to(np.asarray(self.region(values), dtype=bool), (len(points),))
        return self.region.contains(coordinates, points)
