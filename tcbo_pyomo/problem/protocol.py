"""What campaigns, planners, reports and studies ask of a problem, whatever kind of plant it has.

`Problem` (finite) and `ContinuousProblem` derive from it; what both do alike is written here once. What only one kind can
answer (a process, a dynamics) is asked of that class alone, by code that is chosen for it in `campaign/assembly.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, physical
from tcbo_pyomo.foundation.user_answers import truths
from tcbo_pyomo.models.constraints.from_function import FromFunction
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import PathJudge
from tcbo_pyomo.plant.actions import ActionLimits
from tcbo_pyomo.plant.measured_moments import Way
from tcbo_pyomo.plant.situation import Decision, Location
from tcbo_pyomo.problem.landscape import Landscape
from tcbo_pyomo.problem.short_description import as_html, as_text
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.named_goal import goal_from
from tcbo_pyomo.surrogate.output_scale import OutputScale
from tcbo_pyomo.surrogate.plain_prior import PlainPrior


class ProblemProtocol(Protocol):
    """A plant, its rules, what is believed before the first measurement, and a budget."""

    name: str
    """Short name, as on the command line."""
    description: str
    """What it is, in a sentence."""
    coordinates: tuple[Coordinate, ...]
    """The axes of the search space."""
    horizon: int
    """Moves per episode, H."""
    episodes: int
    """Episodes of a campaign, T."""
    kernel: Kernel
    """Prior covariance and mean; from `prior` where none was given."""
    prior: PlainPrior | None
    """What is known about the output in plain words, where it was given."""
    constraints: Sequence[TransitionConstraint | Callable[[Any], None]]
    """The rules as they were given."""
    start: Any
    """Where every episode starts, as it was given."""
    truth: Any
    """The black box where it is known (simulations), else None."""
    settings: Mapping[str, Any]
    """Settings that this problem prefers."""
    output: str
    """The column of the measured quantity in tables."""
    output_unit: str
    """Its unit."""
    output_title: str
    """Its title in figures."""
    goal: Goal
    """Which outputs are better."""

    @property
    def measure_start(self) -> bool:
        """Whether the start is measured before the first move."""

    @property
    def deterministic(self) -> bool:
        """Whether every move has one outcome."""

    @property
    def size(self) -> str:
        """How large the search space is, for tables."""

    def locate(self, at: Any) -> Location:
        """The place a user means."""

    def describe(self, location: Location) -> dict[str, float]:
        """A place as `{coordinate: value}` in engineering units."""

    @property
    def input_axes(self) -> tuple[Coordinate, ...]:
        """The axes of what the black box depends on: all coordinates, unless some are hidden from it."""
        return self.coordinates

    def arrival(self, at: Any, expected: Location | None, decision: Decision) -> Location:
        """Where a move led, from what a user says of it."""
        return self.locate(at)

    def place_seen(self, at: Any) -> Location:
        """A place that a user describes by what the black box sees of it."""
        return self.locate(at)

    def expected_arrival(self, origin: Location, decision: Decision) -> Location | None:
        """Where a move leads; None when chance decides."""

    @property
    def moments(self) -> tuple[float, ...]:
        """The shares of a move at which it is measured; the last is its end."""
        return (1.0,)

    @property
    def step_duration(self) -> float | None:
        """How long a move takes, in the unit of time of a user's model; None where nobody says so."""
        return None

    def way(self, origin: Location, decision: Decision) -> Way:
        """Where the plant is at the moments of a move before its end."""
        return ()

    def place_at(self, move_of: Way, ends: tuple[Location, Location, Location], share: float) -> Location:
        """Where the plant was at a moment of a move.

        Parameters
        ----------
        move_of
            The way of the move.
        ends
            Where it began, where the model leads it, and where it arrived.
        share
            The moment.
        """
        if share == 1.0:
            return ends[2]
        raise BadInput(
            f"problem '{self.name}': its moves are measured where they end; give `measured_at`, or one value per move"
        )

    def noise_variance(self, decision: Decision, arrived: Location) -> float:
        """Noise variance of the measurement after a move."""

    def true_value(self, location: Location) -> float:
        """The true value of a place."""

    def regret(self, location: Location) -> float | None:
        """How much worse a recommendation is than the best, where the truth is known; never negative."""

    def identity(self) -> tuple[list[Any], list[Any]]:
        """Everything that decides which moves are made, as plain data and arrays."""

    def plant_data(self) -> dict[str, Any]:
        """What the plant can do and what its rules allow, as plain data that `declared_problem` understands."""

    def identified(self, location: Location) -> bool | None:
        """Whether a recommendation is the best; None where the truth is unknown or no point hits it exactly."""

    def draw_arrival(self, origin: Location, decision: Decision, generator: np.random.Generator) -> Location:
        """Where a simulated plant arrives, chance included."""

    def try_rule(self, rule: TransitionConstraint) -> None:
        """Evaluate a rule once where that is possible: a wrong argument is found now, not in the first plan."""

    def with_goal(self, goal: Goal) -> Self:
        """A copy with another goal."""

    def with_drawn_truth(self, generator: np.random.Generator) -> Self:
        """The problem with a truth drawn from its prior."""

    def same_place(self, one: Location, other: Location) -> bool:
        """Whether two places are the same up to rounding, as a set-point that was printed and typed in again."""

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

    @cached_property
    def start_state(self) -> Location:
        """Where every episode starts, from what the user gave."""
        try:
            return self.locate(self.start)
        except BadInput as error:
            raise BadInput(f"problem '{self.name}': start: {error}") from None

    @cached_property
    def rules(self) -> tuple[TransitionConstraint, ...]:
        """The constraints, plain functions wrapped."""
        return tuple(c if isinstance(c, TransitionConstraint) else FromFunction(c) for c in self.constraints)

    @property
    def kernel_given(self) -> bool:
        """Whether the kernel was given; otherwise it follows from the plain answers of `prior`."""
        return self.prior is None or self.kernel != self.prior.kernel(self.input_axes)

    @property
    def output_scale(self) -> OutputScale:
        """On which scale the output is modelled."""
        return OutputScale() if self.prior is None else self.prior.scale

    @property
    def typical_noise(self) -> float:
        """Noise variance of an ordinary measurement, as declared."""

    def with_noise(self, factor: float) -> Self:
        """A copy with all noise variances times a factor."""

    @property
    def recommendation_needs_code(self) -> bool:
        """Whether the recommendation of a problem that was read from a file is a better one with the problem's own code."""
        return False

    @property
    def simulated(self) -> bool:
        """Whether the truth is known, so that a campaign can be simulated."""
        return self.truth is not None

    @property
    def known_truth(self) -> Any:
        """The truth; refused where it is not known."""
        if self.truth is None:
            raise BadInput(f"problem '{self.name}' has no known truth")
        return self.truth

    def allowed(self, points: Array) -> Mask:
        """Which scaled points (n x d) every rule allows the plant to be in: where the best is sought."""
        values = physical(self.coordinates, points)
        given = ((rule, rule.allowed_points(self.coordinates, values)) for rule in self.rules)
        masks = [_mask(rule, mask, len(points)) for rule, mask in given if mask is not None]
        ok: Mask = np.all([np.ones(len(points), dtype=bool), *masks], axis=0)
        return ok

    def changed(self, **fields: Any) -> Self:
        """A copy with some fields replaced, checked anew."""
        given: Any = self
        copy: Self = replace(given, **fields)
        return copy

    def check_given(self) -> None:
        """Refuse a budget that is no whole number, an output with the name of another column, and a missing prior."""
        given: Kernel | None = self.kernel
        if given is None:
            if self.prior is None:
                raise BadInput(
                    f"problem '{self.name}': give the range you expect of {self.output}, prior=PlainPrior(range=(low, high)), "
                    "or a kernel"
                )
            object.__setattr__(self, "kernel", self.prior.kernel(self.input_axes))
        for text, number in (("horizon", self.horizon), ("episodes", self.episodes)):
            if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
                raise BadInput(f"problem '{self.name}': {text} {number!r} must be a whole number of at least 1")
        object.__setattr__(self, "goal", goal_from(self.goal, f"problem '{self.name}': goal"))
        taken = ["episode", "step", *(c.name for c in self.coordinates)]
        if not self.output or self.output in taken:
            raise BadInput(f"problem '{self.name}': output {self.output!r} must be a name other than {', '.join(taken)}")

    def place_words(self, location: Location) -> str:
        """A place in engineering units, `residence_time = 5 min, ratio = 0.2`."""
        values = self.describe(location)
        return ", ".join(f"{c.name} = {values[c.name]:.6g} {c.unit}".rstrip() for c in self.coordinates)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _mask(rule: TransitionConstraint, answer: Any, number: int) -> Mask:
    """What a rule says about so many points."""
    return truths(answer, number, f"constraint '{rule.name}': allowed_points", type(rule).allowed_points)
