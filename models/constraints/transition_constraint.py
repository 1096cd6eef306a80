"""What every constraint of the plant can do: the base class of the library and of users' own constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from tcbo_pyomo.models.regions.regions import Region
    from tcbo_pyomo.plant.process import Process


@dataclass(frozen=True)
class Violation:
    """A declared limit that an executed path breaks."""

    constraint: str
    step: int
    message: str


class TransitionConstraint:
    """A rule about moves, states or the whole episode. Override what your rule needs; the rest allows everything.

    A rule about single moves or single states overrides `allowed_transitions` or `allowed_states`: what it forbids is
    left out of the polytope, so it costs nothing. A rule that adds something up over the episode sets
    `couples_steps = True` and overrides `add_to_polytope`. A rule for continuous plants overrides its second face,
    `add_to_trajectory`: smooth Pyomo constraints on the states of a path. Every rule says in `violations`, in plain
    arithmetic on points in engineering units, what an executed path did wrong; this is how executed moves are audited.
    """

    couples_steps: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name used in messages and for Pyomo components."""
        return type(self).__name__

    def allowed_transitions(self, process: Process) -> Mask | None:
        """Which entries of `process.transitions` this rule allows; a move needs all of its outcomes allowed."""
        return None

    def allowed_points(self, coordinates: Sequence[Coordinate], points: Array) -> Mask | None:
        """Which points (n x d, engineering units) this rule allows the plant to be in at any step."""
        return None

    def allowed_states(self, process: Process, step: int, horizon: int) -> Mask | None:
        """Which states this rule allows before step `step` (after the last move: `horizon`)."""
        return self.allowed_points(process.coordinates, process.states)

    def add_to_polytope(self, model: ConcreteModel) -> None:
        """Add linear components to the model of `build_state_action_polytope`."""

    def add_to_trajectory(self, model: ConcreteModel) -> None:
        """Add smooth components to the model of `build_trajectory`."""
        raise BadInput(
            f"constraint '{self.name}' has no trajectory face; define add_to_trajectory(model) in its class, "
            "or leave it "
            "out of a continuous problem"
        )

    def violations(self, coordinates: Sequence[Coordinate], path: Array, complete: bool) -> list[Violation]:
        """What is wrong with a path ((k + 1) x d points, the start first); `complete` when the episode has ended."""
        return []

    @property
    def regions(self) -> tuple[Region, ...]:
        """Places to draw as forbidden."""
        return ()


def transition_endpoints(process: Process) -> tuple[Array, Array]:
    """The points left and arrived at of every stored transition, rows in engineering units."""
    return process.states[process.pair_state[process.transition_pair]], process.states[process.transitions.indices]
