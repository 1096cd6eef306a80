"""Measurements while a continuous plant moves: at which points of a step it is measured, and where it was at a time stamp."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.dynamics import Dynamics, LinearDynamics
from tcbo_pyomo.plant.measured_moments import Way, checked_moments, refuse_named_moment
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics, PartOfModel
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol


class MeasuredOnTheWay(ProblemProtocol):
    """What a `ContinuousProblem` knows about the moments at which its moves are measured."""

    dynamics: Dynamics
    measured_at: int | Sequence[float]

    def check_moments(self) -> None:
        """Refuse moments that are none, and dynamics that do not say where the plant is within a step."""
        try:
            if self.parts:
                refuse_named_moment([c.name for c in self.coordinates])
        except BadInput as error:
            raise BadInput(f"problem '{self.name}': {error}") from None

    @cached_property
    def moments(self) -> tuple[float, ...]:
        """The shares of a move at which it is measured; the last is its end."""
        return checked_moments(self.measured_at)

    @property
    def step_duration(self) -> float | None:
        """How long a move takes, in the unit of time of a user's model; None where nobody says so."""
        return getattr(self.dynamics, "duration", None)

    @cached_property
    def parts(self) -> tuple[LinearDynamics | PartOfModel, ...]:
        """The dynamics from the beginning of a move to each moment before its end."""
        earlier, dynamics = self.moments[:-1], self.dynamics
        if earlier and not isinstance(dynamics, (LinearDynamics, ModelDynamics)):
            raise BadInput(
                f"measured_at {self.measured_at!r}: {type(dynamics).__name__} say where a move ends, not where the plant is on "
                "the way; use LinearDynamics or dynamics_from_model, or shorter steps with one measurement each"
            )
        return tuple(dynamics.part(share) for share in earlier)  # type: ignore[attr-defined]

    def between(self, state: Array, action: Array) -> Array:
        """The scaled points (k x d) at the moments of a move before its end."""
        from tcbo_pyomo.solvers.nonlinear.step_simulator import StepSimulator, simulator_of  # Only plans need it.

        found = []
        for part in self.parts:
            if isinstance(part, LinearDynamics):
                found.append(part.next_state(state, action))
                continue
            simulator = simulator_of(self.dynamics)
            assert isinstance(simulator, StepSimulator)
            found.append(simulator.within(state, action, part.number))
        return np.array(found).reshape(-1, len(self.coordinates))

    def way(self, origin: Location, action: tuple[float, ...]) -> Way:
        """Where the plant is at the moments of a move before its end."""
        if not self.parts:
            return ()
        places = self.between(np.asarray(origin, dtype=float), np.asarray(action, dtype=float)).tolist()
        return tuple((share, tuple(place)) for share, place in zip(self.moments, places, strict=False))

    def place_at(self, move_of: Way, ends: tuple[Location, Location, Location], share: float) -> Location:
        """Where the plant was at a moment of a move: between the points that the model has, shifted as the end was missed."""
        begin, expected, arrived = (np.asarray(end, dtype=float) for end in ends)
        if share == 1.0:
            return ends[2]
        if not move_of:
            return super().place_at(move_of, ends, share)
        moments = [0.0, *(known for known, _ in move_of), 1.0]
        places: Array = np.array([begin, *(np.asarray(place) for _, place in move_of), expected])
        there = [float(np.interp(share, moments, column)) for column in places.T]
        return tuple((np.array(there) + share * (arrived - expected)).tolist())
