"""A problem: a plant, its rules, what we believe about the black box before the first measurement, and a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.packed_arrays import packed
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.models.constraints.budget import budgets_of
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.finite_judge import FiniteJudge
from tcbo_pyomo.models.finite_rule_data import finite_rule_data
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.actions import ActionLimits
from tcbo_pyomo.plant.black_box_inputs import BlackBoxInput
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.process_data import process_data
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.landscape import Landscape
from tcbo_pyomo.problem.passed_states import PassedStates
from tcbo_pyomo.problem.shared_inputs import SharedInputs
from tcbo_pyomo.problem.visitable_states import VisitableStates, visitable_states
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.plain_prior import PlainPrior

if TYPE_CHECKING:
    from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope


@dataclass(frozen=True, eq=False, repr=False)
class Problem(SharedInputs, PassedStates):
    """A problem on a finite process: everything that is known before a campaign starts.

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
        Prior covariance and mean of the black box, on scaled coordinates. Default: from `prior`.
    constraints
        Rules of the plant: `TransitionConstraint` objects, or functions that receive the ConcreteModel.
    truth
        The true value of each state where it is known (simulations); shape n.
    confidence_width
        Standard deviations of the credible band that decides which states are still candidates.
    settings
        Settings that this problem prefers, as a nested dict; the user's own settings override them.
    output, output_unit, output_title
        What is measured: the name of its column in tables, its unit, and its title in figures.
    prior
        What you know about the output in plain terms, in place of a kernel: `PlainPrior(range=(0, 100))`.
    inputs
        What the output depends on: names of coordinates, and `BlackBoxInput(...)` for expressions of them, which become further
        coordinates. The kernel and the candidates are functions of these, in this order. States that differ in other
        coordinates only (the age of a bed, a direction of travel) share one value. Default: every coordinate.
    on_the_way
        States that a move measures while it passes them, before it arrives: `{(state, action): [states]}`. Plans count
        them; `tell` takes a series. Default: none.
    goal
        "maximise" (default), "minimise", or {"target": 42}: the output has to be at a value, in its unit.
    """

    measure_start: ClassVar[bool] = False

    name: str
    process: Process
    start: Any
    horizon: int
    episodes: int
    kernel: Kernel = None  # type: ignore[assignment]  # Never None once the problem is made.
    constraints: Sequence[TransitionConstraint | Callable[[Any], None]] = ()
    truth: Array | None = None
    confidence_width: float = 2.0**0.5
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str = "y"
    output_unit: str = ""
    output_title: str = ""
    description: str = ""
    prior: PlainPrior | None = None
    inputs: Sequence[str | BlackBoxInput] | None = None
    on_the_way: Mapping[tuple[str, str], Sequence[Any]] | None = None
    goal: Any = MAXIMISE  # A Goal once the problem is made.
    coordinates: tuple[Coordinate, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.take_inputs()
        object.__setattr__(self, "coordinates", self.process.coordinates)
        self.check_given()
        _ = self.passed
        if not (np.isfinite(self.confidence_width) and self.confidence_width > 0):
            raise BadInput(f"problem '{self.name}': confidence_width {self.confidence_width!r} must be positive")
        if self.truth is not None:
            values, number = np.asarray(self.truth), self.process.number_of_states
            if values.dtype.kind not in "biuf" or values.shape != (number,) or not np.isfinite(values).all():
                raise BadInput(f"problem '{self.name}': truth must be {number} finite values")
            self.check_shared(values)
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
    def sets(self) -> EpisodeSets:
        """Safe states of every step under the constraints."""
        return EpisodeSets(self.process, self.rules, self.horizon)

    @cached_property
    def visitable(self) -> VisitableStates:
        """States that an episode can visit under all rules, those that add up over its moves included."""
        return visitable_states(self.sets, self.start_state, lambda: self.polytope)

    @property
    def search_space(self) -> Mask:
        """States that an episode can visit: the search space of the best."""
        return self.visitable.states

    @cached_property
    def polytope(self) -> CompiledPolytope:
        """The state-action polytope of an episode, built and compiled on first use."""
        from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope  # Most questions do without Pyomo.

        with section("LP build"):
            return CompiledPolytope(self.sets, self.rules, Situation((self.start_state,)))

    @property
    def best_state(self) -> int:
        """The state with the best true value in the search space: the largest, the smallest or the closest to a target."""
        return int(np.where(self.places, self.goal.score(self.known_truth), -np.inf).argmax())

    @property
    def size(self) -> str:
        """How large the search space is, for tables."""
        distinct = "" if self.inputs is None else f", {len(self.distinct_inputs)} distinct inputs"
        return f"{self.process.number_of_states} states{distinct}"

    @property
    def deterministic(self) -> bool:
        """Whether every move has one outcome."""
        return self.process.deterministic

    def describe(self, state: int) -> dict[str, float]:
        """A state as `{coordinate: value}` in engineering units."""
        return self.process.describe(state)

    def expected_arrival(self, origin: int, pair: int) -> int | None:
        """Where a move leads; None if that is random."""
        return self.process.only_successor(pair)

    def noise_variance(self, pair: int, arrived: int) -> float:
        """Noise variance of the measurement after a move."""
        return self.process.noise_of(pair, arrived)

    @property
    def typical_noise(self) -> float:
        """The median of the noise variances."""
        return float(np.median(self.process.noise_variance))

    def with_noise(self, factor: float) -> Self:
        """A copy with all noise variances times a factor."""
        return self.changed(process=self.process.with_noise(factor))

    def true_value(self, state: int) -> float:
        """The true value of a state."""
        return float(self.known_truth[state])

    def regret(self, state: int) -> float | None:
        """How much worse a recommendation is than the best, where the truth is known."""
        if self.truth is None:
            return None
        best, recommended = self.goal.score(np.asarray(self.truth)[[self.best_state, state]])
        return float(best - recommended)

    def identity(self) -> tuple[list[Any], list[Any]]:
        """Everything that decides which moves are made, as plain data and arrays."""
        process, budgets = self.process, budgets_of(self.rules)
        matrix, limits = process.transitions, [float(budget.limit) for budget in budgets]
        facts = [list(process.labels), self.start_state, float(self.confidence_width), limits]
        if self.inputs is not None:
            facts.append(list(self.inputs))
        if self.passed:
            facts.append([[pair, list(states)] for pair, states in self.passed.items()])
        moves = [process.states, process.pair_state, matrix.indptr, matrix.indices, matrix.data, process.noise_variance]
        costs = [budget.transition_cost(process) for budget in budgets]
        return facts, [*moves, self.sets.allowed_pairs, self.sets.safe, *costs]

    def plant_data(self) -> dict[str, Any]:
        """The process and the rules, as plain data."""
        rules = [finite_rule_data(rule, self) for rule in self.rules]
        width = float(self.confidence_width)
        visitable = {"states": packed(self.visitable.states), "exact": self.visitable.exact}
        process = process_data(self.process)
        plant = {"kind": "finite", "process": process, "confidence_width": width, "rules": rules, "visitable": visitable}
        inputs = {} if self.inputs is None else {"inputs": list(self.inputs)}
        return {**plant, **inputs, **self.passed_data()}

    def identified(self, state: int) -> bool | None:
        """Whether a recommendation is the best; None where the truth is unknown."""
        regret = self.regret(state)
        return None if regret is None else regret == 0.0

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

    keeps_candidates: ClassVar[bool] = True

    def action_name(self, decision: int) -> str:
        """The name of a pair's action."""
        return str(self.process.actions[self.process.pair_action[decision]])

    def instruction(self, decision: int) -> str:
        """The action, where chance decides on the place."""
        return self.action_name(decision) if self.process.only_successor(decision) is None else ""

    def landscape(self) -> Landscape:
        """The states with their true values."""
        best = [] if self.truth is None else [self.best_state]
        states = self.process.states[:, self.input_columns]
        seen = self.first_states
        return Landscape(states[seen], True, None if self.truth is None else self.truth[seen], states[best])

    def same_place(self, one: int, other: int) -> bool:
        """Whether two states are the same."""
        return one == other

    def decision_between(self, origin: int, arrived: int) -> int:
        """The first pair that leads from one state to the other, any pair where none does."""
        pairs = self.process.pairs_of(origin)
        leads = [pair for pair in pairs if np.any(self.process.successors_of(pair) == arrived)]
        return leads[0] if leads else pairs[0]

    def draw_arrival(self, origin: int, pair: int, generator: np.random.Generator) -> int:
        """The state a simulated plant arrives in."""
        return self.process.draw_successor(pair, generator)

    def try_rule(self, rule: TransitionConstraint) -> None:
        """Evaluate a rule on the process: a wrong argument is found now, not in the first plan."""
        rule.allowed_transitions(self.process)
        rule.allowed_states(self.process, 0, self.horizon)
        for budget in budgets_of([rule]):
            budget.transition_cost(self.process)

    def with_goal(self, goal: Goal) -> Self:
        """A copy with another goal."""
        return self.changed(goal=goal)

    def with_drawn_truth(self, generator: np.random.Generator) -> Self:
        """The problem with a truth drawn from its prior."""
        from tcbo_pyomo.problem.drawn_truth import drawn_values  # Few campaigns need it.

        drawn = drawn_values(self.kernel, self.distinct_inputs, generator)
        return self.changed(truth=self.output_scale.output(drawn)[self.input_of])
