"""Measurements while a continuous plant moves: at which points of a step it is measured, and where it was at a time stamp."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.dynamics import Dynamics, LinearDynamics
from tcbo_pyomo.plant.measured_moments import Way, checked_moments
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol


class MeasuredOnTheWay(ProblemProtocol):
    """What a `ContinuousProblem` knows about the moments at which its moves are measured."""

    dynamics: Dynamics
    measured_at: int | Sequence[float]

    def check_moments(self) -> None:
        """Refuse moments that are none, and dynamics that do not say where the plant is within a step."""
        try:
            _ = self.parts
        except BadInput as error:
            raise BadInput(f"problem '{self.name}': {error}") from None

    @cached_property
    def moments(self) -> tuple[float, ...]:
        """The shares of a move at which it is measured; the last is its end."""
        return checked_moments(self.measured_at)

    @cached_property
    def parts(self) -> tuple[LinearDynamics, ...]:
        """The dynamics from the beginning of a move to each moment before its end."""
        earlier = self.moments[:-1]
        if earlier and not isinstance(self.dynamics, LinearDynamics):
            raise BadInput(
                f"measured_at {self.measured_at!r}: {type(self.dynamics).__name__} say where a move ends, not where the plant is on "
                "the way; use LinearDynamics, or shorter steps with one measurement each"
            )
        return tuple(self.dynamics.part(share) for share in earlier if isinstance(self.dynamics, LinearDynamics))

    def way(self, origin: Location, action: tuple[float, ...]) -> Way:
        """Where the plant is at the moments of a move before its end."""
        places = (part.next_state(np.asarray(origin), np.asarray(action)) for part in self.parts)
        return tuple((share, tuple(place.tolist())) for share, place in zip(self.moments, places, strict=False))

    def place_at(self, move_of: Way, ends: tuple[Location, Location, Location], share: float) -> Location:
        """Where the plant was at a moment of a move: between the points that the model has, shifted as the end was missed."""
        begin, expected, arrived = (np.asarray(end, dtype=float) for end in ends)
        if share == 1.0:
            return ends[2]
        moments = [0.0, *(known for known, _ in move_of), 1.0]
        places: Array = np.array([begin, *(np.asarray(place) for _, place in move_of), expected])
        there = [float(np.interp(share, moments, column)) for column in places.T]
        return tuple((np.array(there) + share * (arrived - expected)).tolist())
