"""A budget: what planners and audits ask of a constraint that limits the sum of what the moves of an episode cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.process import Process


@runtime_checkable
class Budget(Protocol):
    """A constraint of the form: sum of transition costs over the episode <= limit."""

    limit: float

    @property
    def name(self) -> str:
        """The name used in messages."""

    def transition_cost(self, process: Process) -> Array:
        """One cost per stored transition."""

    def spent(self, coordinates: Sequence[Coordinate], path: Array) -> float:
        """What a path of points has used."""
