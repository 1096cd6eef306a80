"""A route: an episode that passes a point, which proves that the point can be reached."""

from __future__ import annotations

from dataclasses import dataclass

from tcbo_pyomo.foundation.arrays import Array


@dataclass(frozen=True, eq=False)
class Route:
    """A feasible episode of a continuous plant, and where on it the point lies.

    Attributes
    ----------
    states
        H + 1 x d scaled states, the start first: what a simulation of the actions gives.
    actions
        H x q actions.
    step
        After how many moves the plant is at the point; 0 is the start.
    """

    states: Array
    actions: Array
    step: int

    @property
    def state(self) -> Array:
        """The scaled state (d) that can be reached."""
        return self.states[self.step]
