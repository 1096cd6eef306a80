"""What campaigns, planners, reports and studies ask of a problem, whatever kind of plant it has.

`Problem` (finite) and `ContinuousProblem` satisfy it. What only one kind can answer (a process, a dynamics) is asked of that
class alone, by code that is chosen for it in `campaign/assembly.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import PathJudge
from tcbo_pyomo.plant.actions import ActionLimits
from tcbo_pyomo.plant.situation import Decision, Location
from tcbo_pyomo.problem.landscape import Landscape
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


class ProblemProtocol(Protocol):
    """A plant, its rules, what is believed before the first measurement, and a budget."""

    @property
    def name(self) -> str:
        """Short name, as on the command line."""

    @property
    def description(self) -> str:
        """What it is, in a sentence."""

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The axes of the search space."""

    @property
    def start_state(self) -> Location:
        """Where every episode starts."""

    @property
    def horizon(self) -> int:
        """Moves per episode, H."""

    @property
    def episodes(self) -> int:
        """Episodes of a campaign, T."""

    @property
    def kernel(self) -> Kernel:
        """Prior covariance and mean."""

    @property
    def constraints(self) -> Sequence[TransitionConstraint | Callable[[Any], None]]:
        """The rules as they were given."""

    @property
    def rules(self) -> tuple[TransitionConstraint, ...]:
        """The rules, plain functions wrapped."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings that this problem prefers."""

    @property
    def output(self) -> str:
        """The column of the measured quantity in tables."""

    @property
    def output_unit(self) -> str:
        """Its unit."""

    @property
    def output_title(self) -> str:
        """Its title in figures."""

    @property
    def measure_start(self) -> bool:
        """Whether the start is measured before the first move."""

    @property
    def deterministic(self) -> bool:
        """Whether every move has one outcome."""

    @property
    def size(self) -> str:
        """How large the search space is, for tables."""

    @property
    def simulated(self) -> bool:
        """Whether the truth is known, so that a campaign can be simulated."""

    def locate(self, at: Any) -> Location:
        """The place a user means."""

    def describe(self, location: Location) -> dict[str, float]:
        """A place as `{coordinate: value}` in engineering units."""

    def expected_arrival(self, origin: Location, decision: Decision) -> Location | None:
        """Where a move leads; None when chance decides."""

    def noise_variance(self, decision: Decision, arrived: Location) -> float:
        """Noise variance of the measurement after a move."""

    def true_value(self, location: Location) -> float:
        """The true value of a place."""

    def regret(self, location: Location) -> float | None:
        """How far a recommendation is from the best, where the truth is known."""

    def identity(self) -> tuple[list[Any], list[Any]]:
        """Everything that decides which moves are made, as plain data and arrays."""

    def changed(self, **fields: Any) -> Self:
        """A copy with some fields replaced, checked anew."""

    def identified(self, location: Location) -> bool | None:
        """Whether a recommendation is the maximum; None where the truth is unknown or no point hits it exactly."""

    def draw_arrival(self, origin: Location, decision: Decision, generator: np.random.Generator) -> Location:
        """Where a simulated plant arrives, chance included."""

    def try_rule(self, rule: TransitionConstraint) -> None:
        """Evaluate a rule once where that is possible: a wrong argument is found now, not in the first plan."""

    def with_drawn_truth(self, generator: np.random.Generator) -> Self:
        """The problem with a truth drawn from its prior."""

    def same_place(self, one: Location, other: Location) -> bool:
        """Whether two places cannot be told apart, as a set-point that was printed and typed in again."""

    def decision_between(self, origin: Location, arrived: Location) -> Decision:
        """What may have led from one place to another, where only the places were kept; None where that is not listed."""

    @property
    def keeps_candidates(self) -> bool:
        """Whether candidates are states that stay until a result removes them; otherwise each plan draws new points."""

    def action_name(self, decision: Decision) -> str | None:
        """What the plant is asked to do, where actions have names."""

    def instruction(self, decision: Decision) -> str:
        """What to ask of the plant, where the place that the move leads to does not say it; else empty."""

    def landscape(self) -> Landscape:
        """What lies below paths on paper."""

    def allowed(self, points: Array) -> Mask:
        """Which scaled points (n x d) every rule allows the plant to be in."""

    def points(self, locations: Sequence[Location]) -> Array:
        """Places as rows (n x d) in engineering units."""

    @property
    def judge(self) -> PathJudge:
        """Who holds executed paths against what the plant can do and against the rows of its rules."""

    @property
    def action_limits(self) -> ActionLimits | None:
        """The limits of the actions; None where they are listed one by one."""

    def with_action_limits(self, limits: ActionLimits) -> Self:
        """A copy with other limits of the actions."""
