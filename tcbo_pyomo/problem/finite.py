"""A problem: a plant, its rules, what we believe about the black box before the first measurement, and a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.budget import budgets_of
from tcbo_pyomo.models.constraints.from_function import as_rule
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.finite_judge import FiniteJudge
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.actions import ActionLimits
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.finite import Knowledge
    from tcbo_pyomo.knowledge.history import History
    from tcbo_pyomo.planning.finite.planner import DiscretePlanner
    from tcbo_pyomo.settings import PlannerSettings, Settings


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything that is given before a campaign starts.

    Parameters
    ----------
    name
        Short name, as on the command line.
    process
        The plant; its noise variances enter the planner and the regression.
    start
        Where every episode starts: label, index or `{coordinate: value}`.
    horizon
        Moves (and measurements) per episode, H.
    episodes
        Episodes of a campaign, T.
    kernel
        Prior covariance and mean of the black box, on scaled coordinates.
    constraints
        Rules of the plant: `TransitionConstraint` objects, or functions that receive the ConcreteModel.
    truth
        The true value of each state where it is known (simulations); shape n.
    confidence_width
        Standard deviations of the credible band that decides which states are still candidates.
    settings
        Settings that this problem prefers, as a nested dict; the user's own settings win over them.
    output, output_unit, output_title
        What is measured: the name of its column in tables, its unit, and its title in figures.
    """

    measure_start: ClassVar[bool] = False
    finite: ClassVar[bool] = True

    name: str
    process: Process
    start: Any
    horizon: int
    episodes: int
    kernel: Kernel
    constraints: Sequence[TransitionConstraint | Callable[[Any], None]] = ()
    truth: Array | None = None
    confidence_width: float = 2.0**0.5
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str = "y"
    output_unit: str = ""
    output_title: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        for text, number in (("horizon", self.horizon), ("episodes", self.episodes)):
            if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
                raise BadInput(f"problem '{self.name}': {text} {number!r} must be a whole number of at least 1")
        if not (np.isfinite(self.confidence_width) and self.confidence_width > 0):
            raise BadInput(f"problem '{self.name}': confidence_width {self.confidence_width!r} must be positive")
        if self.truth is not None and (
            np.shape(self.truth) != (self.process.number_of_states,) or not np.isfinite(self.truth).all()
        ):
            raise BadInput(f"problem '{self.name}': truth must be {self.process.number_of_states} finite values")
        check_output_name(self.name, self.output, self.coordinates)
        names = [c.name for c in self.rules if c.couples_steps]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise BadInput(
                f"problem '{self.name}': constraints named {', '.join(sorted(twice))} occur twice; rename one"
            )
        try:
            self.sets.require_safe(self.start_state, 0)
        except InfeasiblePlan as error:
            raise InfeasiblePlan(f"problem '{self.name}': {error}") from None

    @cached_property
    def start_state(self) -> int:
        """Index of the start."""
        try:
            return self.process.state_index(self.start)
        except BadInput as error:
            raise BadInput(f"problem '{self.name}': start: {error}") from None

    @cached_property
    def rules(self) -> tuple[TransitionConstraint, ...]:
        """The constraints, plain functions wrapped."""
        return tuple(as_rule(constraint) for constraint in self.constraints)

    @cached_property
    def sets(self) -> EpisodeSets:
        """Safe states of every step under the constraints."""
        return EpisodeSets(self.process, self.rules, self.horizon)

    @cached_property
    def search_space(self) -> Mask:
        """States that an episode can visit: where the maximum is sought."""
        return self.sets.states_met(self.start_state)

    @property
    def best_state(self) -> int:
        """The state with the largest true value in the search space."""
        if self.truth is None:
            raise BadInput(f"problem '{self.name}' has no known truth")
        return int(np.where(self.search_space, self.truth, -np.inf).argmax())

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The axes of the search space."""
        return self.process.coordinates

    @property
    def simulated(self) -> bool:
        """Whether the truth is known, so that a campaign can be simulated."""
        return self.truth is not None

    @property
    def size(self) -> str:
        """How large the search space is, for tables."""
        return f"{self.process.number_of_states} states"

    @property
    def deterministic(self) -> bool:
        """Whether every move has one outcome."""
        return self.process.deterministic

    def locate(self, at: Any) -> int:
        """The state a user means by a label, an index or `{coordinate: value}`."""
        return self.process.state_index(at)

    def describe(self, state: int) -> dict[str, float]:
        """A state as `{coordinate: value}` in engineering units."""
        return self.process.describe(state)

    def expected_arrival(self, origin: int, pair: int) -> int | None:
        """Where a move leads; None when chance decides."""
        return self.process.only_successor(pair)

    def noise_variance(self, pair: int, arrived: int) -> float:
        """Noise variance of the measurement after a move."""
        return self.process.noise_of(pair, arrived)

    def true_value(self, state: int) -> float:
        """The true value of a state."""
        if self.truth is None:
            raise BadInput(f"problem '{self.name}' has no known truth")
        return float(self.truth[state])

    def knowledge(self, settings: Settings, seed: int, history: History) -> Knowledge:
        """What a campaign on this problem knows, before the first result."""
        from tcbo_pyomo.knowledge.finite import Knowledge

        return Knowledge(self, settings, seed, history)

    def planner(self, settings: PlannerSettings) -> DiscretePlanner:
        """The planner of finite processes."""
        from tcbo_pyomo.planning.finite.planner import DiscretePlanner

        return DiscretePlanner(self, settings)

    def regret(self, state: int) -> float | None:
        """How far a recommendation is from the best, where the truth is known."""
        return None if self.truth is None else float(self.truth[self.best_state] - self.truth[state])

    def identity(self) -> tuple[list[Any], list[Any]]:
        """Everything that decides which moves are made, as plain data and arrays."""
        process = self.process
        matrix = process.transitions
        arrays = [
            process.states,
            process.pair_state,
            matrix.indptr,
            matrix.indices,
            matrix.data,
            process.noise_variance,
        ]
        budgets = budgets_of(self.rules)
        facts = [
            list(process.labels),
            self.start_state,
            float(self.confidence_width),
            [float(b.limit) for b in budgets],
        ]
        costs = [budget.transition_cost(process) for budget in budgets]
        return facts, [*arrays, self.sets.allowed_pairs, self.sets.safe, *costs]

    def changed(self, **fields: Any) -> Problem:
        """A copy with some fields replaced, checked anew."""
        return replace(self, **fields)

    def points(self, states: Sequence[int]) -> Array:
        """States as rows (n x d) in engineering units."""
        return self.process.states[np.asarray(states, dtype=np.int64)]

    @cached_property
    def judge(self) -> FiniteJudge:
        """Who holds executed paths against the process and its rules."""
        return FiniteJudge(self.sets, self.start_state)

    @property
    def action_limits(self) -> ActionLimits | None:
        """None: the actions of a process are listed one by one."""
        return None

    def with_action_limits(self, limits: ActionLimits) -> Problem:
        """Refused: there is nothing to change."""
        raise BadInput(f"problem '{self.name}': the actions of a finite process have no limits; change its moves")


def check_output_name(problem: str, output: str, coordinates: Sequence[Coordinate]) -> None:
    """Refuse a measured quantity whose name is that of another column of the tables."""
    taken = ["episode", "step", *(c.name for c in coordinates)]
    if not output or output in taken:
        raise BadInput(f"problem '{problem}': output {output!r} must be a name other than {', '.join(taken)}")
