"""A problem on a continuous plant: as `Problem`, with dynamics in place of a finite process (section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, physical, point_from_mapping, scaled
from tcbo_pyomo.models.constraints.from_function import as_rule
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.continuous_judge import ContinuousJudge
from tcbo_pyomo.plant.actions import ActionLimits
from tcbo_pyomo.plant.dynamics import Dynamics
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.finite import check_output_name
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.continuous import ContinuousKnowledge
    from tcbo_pyomo.knowledge.history import History
    from tcbo_pyomo.planning.continuous.planner import ContinuousPlanner
    from tcbo_pyomo.settings import PlannerSettings, Settings


@dataclass(frozen=True, eq=False)
class ContinuousProblem:
    """Everything that is given before a campaign on a continuous plant starts.

    Parameters
    ----------
    coordinates, dynamics
        The axes, and how the plant answers an action.
    start
        Where every episode starts, `{coordinate: value}`.
    truth
        The true value of n x d points in engineering units, where it is known (simulations).
    maximum
        The largest true value, for regret.
    measure_start
        Whether the start is measured before the first move, as in the paper's synthetic benchmarks.

    The other fields are those of `Problem`.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    dynamics: Dynamics
    start: Mapping[str, Any]
    horizon: int
    episodes: int
    kernel: Kernel
    noise: float
    constraints: Sequence[TransitionConstraint | Callable[[Any], None]] = ()
    truth: Callable[[Array], Array] | None = None
    maximum: float | None = None
    measure_start: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str = "y"
    output_unit: str = ""
    output_title: str = ""
    description: str = ""

    deterministic: ClassVar[bool] = True
    finite: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for text, number in (("horizon", self.horizon), ("episodes", self.episodes)):
            if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
                raise BadInput(f"problem '{self.name}': {text} {number!r} must be a whole number of at least 1")
        if not (np.isfinite(self.noise) and self.noise > 0):
            raise BadInput(f"problem '{self.name}': noise {self.noise!r} must be a positive variance")
        check_output_name(self.name, self.output, self.coordinates)
        self.dynamics.check_dimension(self.coordinates)
        _ = self.start_state

    @cached_property
    def start_state(self) -> Location:
        """The start as a scaled point."""
        try:
            return self.locate(self.start)
        except BadInput as error:
            raise BadInput(f"problem '{self.name}': start: {error}") from None

    @cached_property
    def rules(self) -> tuple[TransitionConstraint, ...]:
        """The constraints, plain functions wrapped."""
        return tuple(as_rule(constraint) for constraint in self.constraints)

    def locate(self, at: Any) -> Location:
        """The scaled point a user means by `{coordinate: value}`."""
        if isinstance(at, tuple) and len(at) == len(self.coordinates):
            return tuple(float(value) for value in at)
        if not isinstance(at, Mapping):
            names = ", ".join(c.name for c in self.coordinates)
            raise BadInput(f"{at!r} is not a point; give a value for each of {names}")
        values = point_from_mapping(self.coordinates, at)
        for coordinate, value in zip(self.coordinates, values, strict=True):
            slack = 1e-9 * coordinate.width
            if not coordinate.lower - slack <= value <= coordinate.upper + slack:
                raise BadInput(
                    f"{coordinate.title} = {value:g} lies outside [{coordinate.lower:g}, {coordinate.upper:g}]"
                )
        return tuple(scaled(self.coordinates, values).tolist())

    def describe(self, point: Location) -> dict[str, float]:
        """A scaled point as `{coordinate: value}` in engineering units."""
        values = physical(self.coordinates, np.asarray(point))
        # Twelve digits: scaling there and back would otherwise show as 0.9999999999999998.
        return {c.name: float(f"{v:.12g}") for c, v in zip(self.coordinates, values, strict=True)}

    def expected_arrival(self, origin: Location, action: tuple[float, ...]) -> Location:
        """Where an action leads."""
        arrived = self.dynamics.next_state(np.asarray(origin), np.asarray(action))
        # A plan is feasible to 1e-6; what is asked of the plant lies within the bounds exactly.
        return tuple(np.clip(arrived, -0.5, 0.5).tolist())

    def noise_variance(self, action: Any, arrived: Location) -> float:
        """Noise variance of the measurement after a move."""
        return self.noise

    @property
    def simulated(self) -> bool:
        """Whether the truth is known, so that a campaign can be simulated."""
        return self.truth is not None

    @property
    def size(self) -> str:
        """How large the search space is, for tables."""
        return f"{len(self.coordinates)} continuous"

    def allowed(self, points: Array) -> Mask:
        """Which scaled points (n x d) every rule allows: where the maximum is sought."""
        values = physical(self.coordinates, points)
        ok = np.ones(len(points), dtype=bool)
        for rule in self.rules:
            mask = rule.allowed_points(self.coordinates, values)
            if mask is not None:
                ok &= mask
        return ok

    def true_value(self, point: Location) -> float:
        """The true value of a scaled point."""
        if self.truth is None:
            raise BadInput(f"problem '{self.name}' has no known truth")
        return float(self.truth(physical(self.coordinates, np.asarray(point)[None, :]))[0])

    def regret(self, point: Location) -> float | None:
        """How far a recommendation is from the best, where both are known."""
        if self.truth is None or self.maximum is None:
            return None
        return self.maximum - self.true_value(point)

    def knowledge(self, settings: Settings, seed: int, history: History) -> ContinuousKnowledge:
        """What a campaign on this problem knows, before the first result."""
        from tcbo_pyomo.knowledge.continuous import ContinuousKnowledge

        return ContinuousKnowledge(self, settings, seed, history)

    def planner(self, settings: PlannerSettings) -> ContinuousPlanner:
        """The planner of continuous plants."""
        from tcbo_pyomo.planning.continuous.planner import ContinuousPlanner

        return ContinuousPlanner(self, settings)

    def identity(self) -> tuple[list[Any], list[Array]]:
        """Everything that decides which moves are made, as plain data and arrays."""
        dynamics = self.dynamics
        function = getattr(dynamics, "function", None)
        facts = [getattr(function, "__name__", ""), dynamics.actions.names, self.start_state, self.noise]
        matrices = [getattr(dynamics, name) for name in ("state_matrix", "input_matrix") if hasattr(dynamics, name)]
        return facts, [*dynamics.actions.bounds(), *matrices]

    def changed(self, **fields: Any) -> ContinuousProblem:
        """A copy with some fields replaced, checked anew."""
        return replace(self, **fields)

    def points(self, locations: Sequence[Location]) -> Array:
        """Scaled points as rows (n x d) in engineering units."""
        return physical(self.coordinates, np.array(locations, dtype=float))

    @cached_property
    def judge(self) -> ContinuousJudge:
        """Who holds executed paths against the dynamics and the rules."""
        return ContinuousJudge(self.coordinates, self.dynamics, np.asarray(self.start_state), self.horizon)

    @property
    def action_limits(self) -> ActionLimits | None:
        """The limits of the actions."""
        return self.dynamics.actions

    def with_action_limits(self, limits: ActionLimits) -> ContinuousProblem:
        """The same problem with other limits of the actions."""
        dynamics: Any = self.dynamics
        return self.changed(dynamics=replace(dynamics, actions=limits))
