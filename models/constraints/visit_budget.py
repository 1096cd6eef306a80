"""Visit budget: at most k expected visits to a set of states in an episode."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation
from tcbo_pyomo.models.regions.regions import Region
from tcbo_pyomo.plant.process import Process

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

Where: TypeAlias = Region | Callable[[Mapping[str, Array]], Any]


class VisitBudget(TransitionConstraint):
    """sum_h P(x_{h+1} in region) <= limit over the episode; visits already made count, the start does not.

    Parameters
    ----------
    region
        A region, or a function of `{coordinate: array}` that says which points count.
    limit
        How many visits an episode may make.
    """

    couples_steps: ClassVar[bool] = True

    def __init__(self, region: Where, limit: float, name: str = "visits") -> None:
        if not math.isfinite(limit) or limit < 0:
            raise BadInput(f"visit_budget '{name}': limit {limit!r} must be finite and not negative")
        self.region, self.limit, self.label = region, float(limit), name

    @property
    def name(self) -> str:
        """Class name with the label of the set."""
        return f"VisitBudget({self.label})"

    def transition_cost(self, process: Process) -> Array:
        """One for each stored transition that arrives in the region."""
        return self._inside(process.coordinates, process.states)[process.transitions.indices].astype(float)

    def add_to_polytope(self, model: ConcreteModel) -> None:
        """One row: expected number of arrivals in the region."""
        from tcbo_pyomo.models.state_action_polytope import add_budget_row

        cost = self.transition_cost(model.process)
        add_budget_row(model, self.name, f"{self.label}_budget", cost, self.limit)

    def add_to_trajectory(self, model: ConcreteModel) -> None:
        """A budget below one visit forbids the region; any other needs counting, which is not smooth."""
        from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion

        if self.limit >= 1 or callable(self.region):
            raise BadInput(
                f"constraint '{self.name}': the number of visits of a path is not a smooth function, so a "
                "continuous plan can "
                f"only forbid a region (limit below 1, received {self.limit:g}, with a Circle, Box, Polygon "
                "or Wall); use a "
                "resource_budget with a smooth cost instead"
            )
        ForbiddenRegion(self.region, crossing=True).add_to_trajectory(model)

    def spent(self, coordinates: Sequence[Coordinate], path: Array) -> float:
        """How many visits a path of points has made."""
        return float(self._inside(coordinates, path[1:]).sum())

    def violations(self, coordinates: Sequence[Coordinate], path: Array, complete: bool) -> list[Violation]:
        """The first visit too many."""
        visits = np.cumsum(self._inside(coordinates, path[1:]))
        over = np.flatnonzero(visits > self.limit + 1e-6)
        if len(over) == 0:
            return []
        return [Violation(self.name, int(over[0]), f"visit {visits[over[0]]}, allowed are {self.limit:g}")]

    def _inside(self, coordinates: Sequence[Coordinate], points: Array) -> Mask:
        if callable(self.region):
            values = {c.name: column for c, column in zip(coordinates, points.T, strict=True)}
            return np.broadcast_to(np.asarray(self.region(values), dtype=bool), (len(points),))
        return self.region.contains(coordinates, points)
