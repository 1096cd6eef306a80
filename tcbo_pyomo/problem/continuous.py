"""A problem on a continuous plant: as `Problem`, with dynamics in place of a finite process (section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, in_engineering_units, physical, point_from_mapping, scaled
from tcbo_pyomo.foundation.user_answers import real_numbers
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.continuous_judge import ContinuousJudge
from tcbo_pyomo.models.continuous_rule_data import continuous_rule_data, dynamics_arithmetic
from tcbo_pyomo.models.step_equations import step_equations
from tcbo_pyomo.plant.actions import ActionLimits
from tcbo_pyomo.plant.black_box_inputs import BlackBoxInput, derived_inputs
from tcbo_pyomo.plant.dynamics import Dynamics
from tcbo_pyomo.plant.dynamics_data import dynamics_data
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.plant.route import Route
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.derived_values import derived_data
from tcbo_pyomo.problem.hidden_states import HiddenStates
from tcbo_pyomo.problem.landscape import Landscape, grid_landscape
from tcbo_pyomo.problem.measured_on_the_way import MeasuredOnTheWay
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.plain_prior import PlainPrior

SAME_PLACE = 1e-9
"""Share of an axis: set-points that were printed and typed in again are the same place."""
LEFT_OF_ZERO = 1e-6
"""Share of the range of an action: IPOPT's answers are no more exact."""
MOST_CORNERS = 12
"""Coordinates up to which all corners of the box are looked at."""


@dataclass(frozen=True, eq=False, repr=False)
class ContinuousProblem(HiddenStates, MeasuredOnTheWay):
    """A problem on a continuous plant: everything that is known before a campaign starts.

    Parameters
    ----------
    coordinates, dynamics
        The axes, and how the plant answers an action.
    start
        Where every episode starts, `{coordinate: value}`.
    truth
        The true value of n x d points (n x p inputs) in engineering units, where it is known (simulations).
    maximum
        The best true value, for regret: the largest, or with another goal the smallest or the one closest to the target.
    noise
        Noise variance of a measurement. Default: from `prior`.
    measure_start
        Whether the start is measured before the first move, as in the paper's synthetic benchmarks.
    inputs
        What the output depends on: names of states or actions, and `BlackBoxInput(...)` for expressions of them. The
        kernel, the truth and the candidates are functions of these, in this order; all other coordinates are hidden states
        of the dynamics. Actions and expressions become further coordinates. Default: every coordinate.
    measured_at
        How many measurements a move gives, evenly spread over it, the last at its end; or the shares of a move at which they
        are taken, such as (0.5, 1). Plans count them all; `tell` takes a series.

    The other fields are those of `Problem`.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    dynamics: Dynamics
    start: Mapping[str, Any]
    horizon: int
    episodes: int
    kernel: Kernel = None  # type: ignore[assignment]  # Never None once the problem is made.
    noise: float = None  # type: ignore[assignment]
    constraints: Sequence[TransitionConstraint | Callable[[Any], None]] = ()
    truth: Callable[[Array], Array] | None = None
    maximum: float | None = None
    measure_start: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str = "y"
    output_unit: str = ""
    output_title: str = ""
    description: str = ""
    prior: PlainPrior | None = None
    inputs: Sequence[str | BlackBoxInput] | None = None
    measured_at: int | Sequence[float] = 1
    goal: Any = MAXIMISE  # A Goal once the problem is made.

    deterministic: ClassVar[bool] = True
    only_described: ClassVar[bool] = False
    """Whether this is what a campaign file says of a problem, without the code that can simulate its plant."""

    def __post_init__(self) -> None:
        self.take_inputs()
        self.check_given()
        given: float | None = self.noise
        if given is None and self.prior is not None:
            object.__setattr__(self, "noise", self.prior.noise_variance)
        elif given is None:
            raise BadInput(f"problem '{self.name}': give the noise variance of a measurement, or a prior with measurement_sd")
        if not (np.isfinite(self.noise) and self.noise > 0):
            raise BadInput(f"problem '{self.name}': noise {self.noise!r} must be a positive variance")
        self.dynamics.check_dimension(self.coordinates)
        self.check_moments()
        _ = self.start_state

    def locate(self, at: Any) -> Location:
        """The scaled point a user means by `{coordinate: value}`."""
        if isinstance(at, tuple) and len(at) == len(self.coordinates):
            point = tuple(float(value) for value in at)
            if not all(abs(value) <= 0.5 + SAME_PLACE for value in point):
                raise BadInput(f"{at!r} lies outside the bounds of the problem, -0.5 to 0.5 for scaled values")
            return point
        if not isinstance(at, Mapping):
            names = ", ".join(c.name for c in self.coordinates)
            raise BadInput(f"{at!r} is not a point; give a value for each of {names}")
        values = point_from_mapping(self.coordinates, self.with_derived(at))
        for coordinate, value in zip(self.coordinates, values, strict=True):
            slack = SAME_PLACE * coordinate.width
            if not coordinate.lower - slack <= value <= coordinate.upper + slack:
                raise BadInput(
                    f"{coordinate.title} = {value:g} lies outside [{coordinate.lower:g}, {coordinate.upper:g}]"
                )
        return tuple(scaled(self.coordinates, values).tolist())

    def describe(self, point: Location) -> dict[str, float]:
        """A scaled point as `{coordinate: value}` in engineering units."""
        return in_engineering_units(self.coordinates, point)

    def expected_arrival(self, origin: Location, action: tuple[float, ...]) -> Location:
        """Where an action leads."""
        arrived = self._simulated_step(np.asarray(origin), np.asarray(action))
        # A plan is feasible to 1e-6; what is asked of the plant lies within the bounds exactly.
        return tuple(np.clip(arrived, -0.5, 0.5).tolist())

    def noise_variance(self, action: Any, arrived: Location) -> float:
        """Noise variance of the measurement after a move."""
        return self.noise

    @property
    def typical_noise(self) -> float:
        """The noise variance of every measurement."""
        return self.noise

    def with_noise(self, factor: float) -> Self:
        """A copy with all noise variances times a factor."""
        return self.changed(noise=factor * self.noise)

    @property
    def size(self) -> str:
        """How large the search space is, for tables."""
        return f"{len(self.coordinates)} continuous"

    def true_value(self, point: Location) -> float:
        """The true value of a scaled point."""
        return float(self.true_values(physical(self.input_axes, self.observed(np.asarray(point)[None, :])))[0])

    def true_values(self, points: Array) -> Array:
        """The true values of n x p inputs in engineering units, as far as the truth gives real numbers."""
        what = f"problem '{self.name}': truth"
        return real_numbers(self.known_truth(points), (len(points),), what, self.truth)

    def regret(self, point: Location) -> float | None:
        """How much worse a recommendation is than the best, where both are known."""
        if self.truth is None or self.maximum is None:
            return None
        # A maximum is given, or was found, with some digits only.
        return max(0.0, float(self.goal.score(self.maximum) - self.goal.score(self.true_value(point))))

    def identity(self) -> tuple[list[Any], list[Array]]:
        """Everything that decides which moves are made, as plain data and arrays."""
        dynamics = self.dynamics
        function = getattr(dynamics, "function", None)
        facts = [getattr(function, "__name__", ""), dynamics.actions.names, self.start_state, self.noise]
        matrices = [getattr(dynamics, name) for name in ("state_matrix", "input_matrix") if hasattr(dynamics, name)]
        if self.inputs is not None:
            facts.append(self.inputs)
        if len(self.moments) > 1:
            facts.append(self.moments)
        return facts, [*dynamics.actions.bounds(), *matrices]

    def plant_data(self) -> dict[str, Any]:
        """The dynamics, the actions and the rules, as plain data."""
        dynamics = dynamics_data(self.dynamics)
        if dynamics["kind"] == "code":
            step = self._trajectory(1)
            dynamics["arithmetic"] = dynamics_arithmetic(step)
            if dynamics["arithmetic"] is None:
                dynamics["step"] = step_equations(step, isinstance(self.dynamics, ModelDynamics))
        rules = [continuous_rule_data(rule, self._trajectory, self.coordinates) for rule in self.rules]
        noise = {"noise": float(self.noise), "measure_start": bool(self.measure_start)}
        plant = {"kind": "continuous", "dynamics": dynamics, **noise, "rules": rules}
        if len(self.moments) > 1:
            plant |= {"measured_at": list(self.moments), "duration": self.step_duration}
        if self.inputs is None:
            return plant
        derived = derived_data(derived_inputs(self.dynamics), self.coordinates, self.dynamics.actions.names or ())
        return {**plant, "inputs": list(self.inputs), "derived": derived}

    def _trajectory(self, steps: int | None = None) -> PyomoModel:
        from tcbo_pyomo.models.trajectory import build_trajectory

        return build_trajectory(self.coordinates, self.dynamics, np.asarray(self.start_state), steps or self.horizon)

    def identified(self, point: Location) -> None:
        """None: in a box the best is never hit exactly."""

    def draw_arrival(self, origin: Location, action: tuple[float, ...], generator: np.random.Generator) -> Location:
        """Where an action leads; nothing is left to chance."""
        return self.expected_arrival(origin, action)

    def try_rule(self, rule: TransitionConstraint) -> None:
        """Nothing to evaluate before the first plan: a rule of trajectories is judged by the programme."""

    def with_goal(self, goal: Goal) -> Self:
        """A copy with another goal; what is best then is sought when somebody judges by it."""
        return self.changed(goal=goal, maximum=None)

    def with_drawn_truth(self, generator: np.random.Generator) -> Self:
        """The problem with a truth drawn from its prior, and its best value."""
        from tcbo_pyomo.problem.drawn_truth import drawn_function  # Few campaigns need it.

        allowed = _anywhere if self.has_hidden else self.allowed
        truth, maximum = drawn_function(self.kernel, self.input_axes, allowed, generator, self.goal, self.output_scale)
        return self.changed(truth=truth, maximum=maximum)

    def same_place(self, one: Location, other: Location) -> bool:
        """Whether two scaled points differ by rounding only."""
        return bool(np.abs(np.subtract(one, other)).max() <= SAME_PLACE)

    def decision_between(self, origin: Location, arrived: Location) -> None:
        """Actions are not listed, and several may lead to the same point."""
        return None

    keeps_candidates: ClassVar[bool] = False

    def action_name(self, decision: tuple[float, ...]) -> None:
        """Actions are numbers."""
        return None

    def instruction(self, decision: tuple[float, ...]) -> str:
        """The value of every input, unless the plant is simply moved to a place; what a solver leaves of zero is zero."""
        names = self.dynamics.actions.names
        if self.dynamics.is_free_move or names is None:
            return ""
        lower, upper = self.dynamics.actions.bounds()
        shown = np.where(np.abs(decision) < LEFT_OF_ZERO * (upper - lower), 0.0, decision).tolist()
        return ", ".join(f"{name} {value:.4g}" for name, value in zip(names, shown, strict=True))

    @property
    def moves_can_be_undone(self) -> bool:
        """Whether the plant can go back at no cost but the moves: neither inertia nor a rule prevents it."""
        return self.moves_freely and all(rule.lets_return(self.coordinates) for rule in self.rules)

    @cached_property
    def reaches_everything(self) -> bool:
        """Whether an episode can get to every point of the box: moves that only their size limits, and enough of them."""
        dimension = len(self.coordinates)
        if self.rules or not self.moves_freely or dimension > MOST_CORNERS:
            return False
        corners = np.array(np.meshgrid(*[[-0.5, 0.5]] * dimension)).reshape(dimension, -1).T
        moves = (corners - np.asarray(self.start_state)) / self.horizon
        # Moves are limited to a convex set: where straight ways to all corners are within it, those to all points are.
        return bool(np.abs(self.dynamics.actions.clip(moves) - moves).max() <= SAME_PLACE)

    @property
    def recommendation_needs_code(self) -> bool:
        """Where not all of the box can be reached, only the plant's own code says where an episode can get to."""
        return self.only_described and not self.reaches_everything

    def route_moves(self, route: Route) -> list[dict[str, Any]]:
        """How to get to the point of a route: for each move its step, the actions, and where it leads."""
        names = self.dynamics.actions.names or ()
        moves = zip(route.actions[: route.step].tolist(), route.states[1 : route.step + 1].tolist(), strict=True)
        return [
            {"step": step, "actions": dict(zip(names, action, strict=True)), "at": self.describe(state)}
            for step, (action, state) in enumerate(moves, start=1)
        ]

    def landscape(self) -> Landscape:
        """The true function over a plane."""
        allowed = _anywhere if self.has_hidden else self.allowed
        truth = None if self.truth is None else self.true_values
        return grid_landscape(self.input_axes, truth, allowed, self.goal)

    def points(self, locations: Sequence[Location] | Array) -> Array:
        """Scaled points as rows (n x d) in engineering units."""
        return physical(self.coordinates, np.array(locations, dtype=float))

    @cached_property
    def judge(self) -> ContinuousJudge:
        """Who holds executed paths against the dynamics and the rules."""
        start, step = np.asarray(self.start_state), self._simulated_step
        limit = self._broken_limit
        return ContinuousJudge(self.coordinates, self.dynamics, start, self.horizon, step, self.has_hidden, limit)

    def _broken_limit(self, state: Array, action: Array) -> str:
        from tcbo_pyomo.solvers.nonlinear.step_simulator import StepSimulator, simulator_of  # Only plans need it.

        simulator = simulator_of(self.dynamics)
        return simulator.broken_limit(state, action) if isinstance(simulator, StepSimulator) else ""

    def _simulated_step(self, state: Array, action: Array) -> Array:
        from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of  # Only plans need it.

        return simulator_of(self.dynamics).next_state(state, action)

    @property
    def action_limits(self) -> ActionLimits | None:
        """The limits of the actions."""
        return self.dynamics.actions

    def with_action_limits(self, limits: ActionLimits) -> ContinuousProblem:
        """The same problem with other limits of the actions."""
        dynamics: Any = self.dynamics
        return self.changed(dynamics=replace(dynamics, actions=limits))


def _anywhere(points: Array) -> Mask:
    return np.ones(len(points), dtype=bool)
