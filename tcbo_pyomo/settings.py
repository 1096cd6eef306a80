"""Settings: everything a user can choose without touching code. Unknown keys and wrong types are errors.

The order of precedence is: these defaults, the problem's own preferences, `--preset`, a settings file, `--set` on the command
line. A file may name a `preset` too, and wins over it.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from tcbo_pyomo.errors import BadInput, suggestion


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)


class LinearSolverSettings(_Section):
    """How the Frank-Wolfe subproblem on the polytope is solved."""

    solver: str = Field("auto", min_length=1)
    """auto: highs, but dynamic_programming if it can plan here and the linear programme has more than 100,000 variables;
    highs: the Pyomo model, compiled once; dynamic_programming: backward induction, exact and fastest, where nothing or one
    budget couples the steps of an episode; any SolverFactory name; a name given with hand_over_solver; 'my_module:MySolver'."""
    options: dict[str, bool | int | float | str] = Field(default_factory=dict)
    """Solver options; unknown names are errors."""
    time_limit: float | None = Field(None, gt=0)
    """Time limit per solve, in seconds."""


class NonlinearSolverSettings(_Section):
    """How the trajectory of a continuous plant is found."""

    solver: str = Field("ipopt", min_length=1)
    """ipopt; with interface pyomo any SolverFactory name, such as pounce, or a name given with hand_over_solver."""
    interface: Literal["casadi", "cyipopt", "pyomo"] = "casadi"
    """casadi: compiled once, IPOPT from the casadi wheel; cyipopt: the extra; pyomo: the explicit Pyomo objective."""
    options: dict[str, bool | int | float | str] = Field(default_factory=dict)
    """Solver options."""
    time_limit: float | None = Field(None, gt=0)
    """Time limit per solve, in seconds."""
    max_iterations: int | None = Field(None, ge=1, le=1_000_000_000)
    """Iteration limit per solve. Default: 50 for linear dynamics without further constraints, else 300; with interface pyomo
    the solver's own."""
    solves: int = Field(2, ge=1, le=10_000)
    """Number of warm starts from which a plan is solved, the best ones first."""


class PlannerSettings(_Section):
    """Frank-Wolfe over visitations (section 4)."""

    components: int = Field(1, ge=1, le=10_000)
    """Mixture components N; 1 linearises only at the history, as in the paper's experiments."""
    step_rule: Literal["harmonic", "diminishing", "line_search"] = "harmonic"
    """Step n of Frank-Wolfe: harmonic 1/(1+n), diminishing 2/(2+n), or line_search."""
    gap: float | None = Field(None, gt=0, lt=1)
    """Finite processes: relative optimality gap. Adds components until (upper - lower) / upper is certified to be this small;
    ignores `components` and `step_rule`."""
    first_move: Literal["auto", "eager", "drawn", "likeliest"] = "auto"
    """Which first move of a plan is taken. auto: eager on finite plants and on continuous ones where moves can be undone; drawn
    where they cannot: inertia, a budget for the way, a coordinate that may only grow or fall. eager: among the
    moves that delay the plan by at most one step, the most informative; where every place is one move away, the one that
    lowers the expected regret most, at once or by going there and staying (with utility.objective differences, and on a
    continuous plant in the first half of the budget, the one with the largest upper confidence bound; continuous mixtures of
    several paths: as drawn). drawn: at random with the plan's probabilities, as in the paper. likeliest: the most probable
    one."""
    linear: LinearSolverSettings = LinearSolverSettings()
    """Finite processes: the solver of the linear subproblem on the polytope."""
    nonlinear: NonlinearSolverSettings = NonlinearSolverSettings()
    """Continuous plants: the solver of the trajectory."""

    @property
    def finite_first_move(self) -> Literal["eager", "drawn", "likeliest"]:
        """The first move on a finite plant; what `auto` stands for there."""
        return "eager" if self.first_move == "auto" else self.first_move

    def continuous_first_move(self, can_be_undone: bool) -> Literal["eager", "drawn", "likeliest"]:
        """The first move on a continuous plant, whose moves later ones can undo or not."""
        if self.first_move != "auto":
            return self.first_move
        return "eager" if can_be_undone else "drawn"


class FeedbackSettings(_Section):
    """When results arrive."""

    kind: Literal["immediate", "episodic", "delayed"] = "immediate"
    """immediate: after each move; episodic: at the end of an episode; delayed: after `delay` further moves."""
    delay: int = Field(0, ge=0, le=1_000_000)
    """Delayed feedback: further moves before a result arrives."""

    @model_validator(mode="after")
    def _delay_belongs_to_delayed(self) -> FeedbackSettings:
        if (self.kind == "delayed") != (self.delay > 0):
            raise ValueError("kind 'delayed' needs a positive delay, and no other kind takes one")
        return self


class CandidateSettings(_Section):
    """The set Z of states that may still be the best (section 3.1)."""

    rule: str | None = Field(None, min_length=1)
    """Finite plants: credible_band (default). Continuous plants: annealed (default), thompson_sampling or upper_confidence.
    by_feedback, the paper's choice: credible_band on finite plants; on continuous ones upper_confidence if results come
    immediately and thompson_sampling if they come later. Or 'my_module:MyRule'."""
    width: float | None = Field(None, gt=0)
    """Half-width of the credible band in standard deviations. Default: the problem's own, and at least 2 if the model is
    learned."""
    count: int | None = Field(None, ge=2, le=10_000)
    """Number of candidates K on a continuous plant. Default: 100 for thompson_sampling and annealed, 25 for
    upper_confidence."""


class UtilitySettings(_Section):
    """What a plan minimises."""

    objective: Literal["auto", "differences", "g_allocation", "regret"] = "auto"
    """regret (finite plants): expected regret of the recommendation, each place weighted by the probability that it is better;
    differences, as in the paper: largest variance of f(z) - f(z'); g_allocation: largest variance of f(z). auto: regret on
    finite plants; differences on continuous plants, and where settings need it: planner.gap (a certificate needs a convex
    utility), candidates.rule or candidates.width (regret uses no candidates)."""
    information: Literal["arrival", "departure"] = "arrival"
    """Which state a move informs about in the variance that a plan minimises. arrival: the state it arrives at, where the
    plant measures. departure: the state it leaves, as in the paper's information matrix (sections 2.2 and 5.3); for the last
    move of an episode the arrival as well. In both cases means, candidates and the recommendation use the results where they
    were measured."""
    pending: Literal["counted", "ignored"] = "counted"
    """Visits whose results are outstanding. counted: they reduce the variance that a plan minimises (section 4.1). ignored:
    they do not, and a plan may return to a place just visited."""
    form: Literal["features", "kernel"] = "features"
    """features: finite features; kernel: the general-kernel form of the appendix. Equal values."""


class PriorSettings(_Section):
    """What you know about the output in plain terms, in place of the problem's kernel; see `PlainPrior`."""

    range: tuple[float, float] | None = Field(None, strict=False)
    """[low, high]: the range of expected results, in the unit of the output. Without it the problem's own prior is used."""
    measurement_sd: float | Literal["declared", "unknown"] = "declared"
    """Standard deviation of a repeated measurement; declared: the problem's own; unknown: learned from the results."""
    changes_within: dict[str, float] = Field(default_factory=dict)
    """Change of each input that changes the output markedly, in its unit. Default: 0.3 of its axis."""
    positive: bool = False
    """The output is positive and skewed: model its logarithm."""


class MisbeliefSettings(_Section):
    """A simulation with a wrong prior: the campaign uses another prior than the problem's, the simulated plant stays the
    same."""

    lengthscale: float = Field(1.0, gt=0)
    """Factor on all lengthscales of the kernel."""
    isotropic: bool = False
    """Give all inputs the shortest of its lengthscales, as if nobody knew that some matter less."""
    variance: float = Field(1.0, gt=0)
    """Factor on its variance."""
    noise: float = Field(1.0, gt=0)
    """Factor on the noise variance of measurements."""
    level: float = 0.0
    """Added to the prior mean, in standard deviations of the kernel."""


class SurrogateSettings(_Section):
    """The Gaussian process."""

    features: Literal["auto", "exact", "nystroem", "random_fourier"] = "auto"
    """exact: the kernel itself; nystroem or random_fourier: finite approximations. auto: exact, but nystroem on a continuous
    plant with a budget of more than 1,000 moves, where the cost of exact updates grows with every measurement."""
    number: int | None = Field(None, ge=1, le=100_000)
    """Number of approximate features. Default: min(2^(5+d), 512), and 1,000 if auto chose them."""
    fit: Literal["auto", "never", "learn", "each_episode"] = "auto"
    """learn: update level, lengthscales and noise from the results every few results, around the declared values. never: keep
    the declared prior. auto: learn if the problem gives a plain prior, never if it gives a kernel. each_episode: maximum
    likelihood before each episode, as in earlier versions; it can get campaigns stuck, so use learn."""
    prior: PriorSettings = PriorSettings()
    misbelief: MisbeliefSettings = MisbeliefSettings()


class RolloutSettings(_Section):
    """`method: rollout`: the methods it chooses among, and how."""

    methods: dict[str, dict[str, Any]] | None = None
    """Names, each with the settings that differ from the campaign's own: `{default: {}, MDP-EI: {method:
    mdp_expected_improvement}}`. Ties go to the first one. Default: the default method, MDP-BO with a drawn first move, MDP-EI,
    local_ucb and greedy_ucb; on a continuous plant the default method, MDP-BO as in the paper, local_ucb and
    local_search_region or, if results are late, truncated_snake."""
    draws: int | None = Field(None, ge=2, le=10_000)
    """Number of posterior samples on which the rest of the campaign is simulated, the same for all methods. Default: 32, on a
    continuous plant 8."""
    every: float | None = Field(None, gt=0, le=1)
    """It chooses again after this share of the moves. Default: at the start of each episode if results come at its end, else
    0.1, on a continuous plant 0.25."""
    margin: float = Field(0.0, ge=0)
    """Another method replaces the first one if its regret is lower by this many standard errors of the paired difference."""


class StopSettings(_Section):
    """When enough is known: the campaign ends before its budget. `stop: identified` is short for {identified: true}."""

    regret: float | None = Field(None, ge=0)
    """What the recommendation may be below the best point that an episode can reach, in the unit of the output."""
    identified: bool = False
    """In place of a tolerance: one candidate is left, or nothing is better by more than what measurements at the recommendation
    can tell (the standard deviation of a measurement, or of the posterior there where that is smaller)."""
    probability: float = Field(0.9, gt=0, lt=1)
    """How probable that has to be, given all results."""

    @model_validator(mode="before")
    @classmethod
    def _one_word(cls, given: Any) -> Any:
        return {"identified": True} if given == "identified" else given

    @model_validator(mode="after")
    def _one_rule(self) -> StopSettings:
        if self.identified and self.regret is not None:
            raise ValueError("name regret or identified, not both")
        if self.probability != 0.9 and not self.active:
            raise ValueError("a probability alone says nothing; name regret as well, or identified: true")
        return self

    @property
    def active(self) -> bool:
        """Whether a campaign may end before its budget."""
        return self.identified or self.regret is not None


GOALS = ("maximise", "minimise")
"""Goals that need no number."""


class ConstraintSettings(BaseModel):
    """One more rule of the plant by name, with its arguments: a file in models/constraints or 'my_module:MyRule'."""

    model_config = ConfigDict(extra="allow", frozen=True)

    use: str = Field(min_length=1)


class Settings(_Section):
    """All settings of a campaign."""

    method: str = Field("mdp_bo", min_length=1)
    """The method that chooses moves: mdp_bo, another one, or rollout, which chooses among methods by simulated campaigns."""
    episodes: int | None = Field(None, ge=1, le=1_000_000)
    """Number of episodes. Default: the problem's own."""
    start: str | dict[str, float] | None = None
    """Start of every episode as a label or {coordinate: value}. Default: the problem's own."""
    goal: Literal["maximise", "minimise"] | dict[str, float] | None = None
    """maximise, minimise, or {target: 42}: the output has to be at a value, in its unit. Default: the problem's own, and
    maximise if it has none."""
    feedback: FeedbackSettings = FeedbackSettings()
    candidates: CandidateSettings = CandidateSettings()
    utility: UtilitySettings = UtilitySettings()
    surrogate: SurrogateSettings = SurrogateSettings()
    planner: PlannerSettings = PlannerSettings()
    rollout: RolloutSettings = RolloutSettings()
    stop: StopSettings = StopSettings()
    constraints: tuple[ConstraintSettings, ...] = Field((), strict=False)
    """Further rules of the plant, such as {use: maximum_step, limits: {ratio: 0.1}}; use may be 'my_module:MyRule'."""

    @field_validator("goal", mode="before")
    @classmethod
    def _a_goal_by_name(cls, value: Any) -> Any:
        """One message for all that is no goal, in place of one for each kind that it might have been."""
        if value is None or (isinstance(value, str) and value in GOALS):
            return value
        if isinstance(value, dict) and set(value) == {"target"}:
            number = value["target"]
            if isinstance(number, (int, float)) and not isinstance(number, bool) and isfinite(number):
                return {"target": float(number)}
        raise ValueError("use maximise, minimise, or {target: 42} with a finite number in the unit of the output")

    @property
    def finite_objective(self) -> Literal["differences", "g_allocation", "regret"]:
        """What plans on a finite plant make small; what `auto` stands for there."""
        if self.utility.objective != "auto":
            return self.utility.objective
        named = (self.planner.gap, self.candidates.rule, self.candidates.width)
        return "regret" if all(value is None for value in named) else "differences"

    @property
    def continuous_objective(self) -> Literal["differences", "g_allocation"]:
        """What plans on a continuous plant make small; what `auto` stands for there."""
        return "g_allocation" if self.utility.objective == "g_allocation" else "differences"

    @model_validator(mode="after")
    def _a_gap_needs_a_convex_utility(self) -> Settings:
        if self.planner.gap is not None and self.utility.objective == "regret":
            raise ValueError("planner.gap needs a convex utility, which utility.objective 'regret' is not; use differences")
        return self


PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "planner": {"first_move": "drawn"},
        "candidates": {"rule": "by_feedback"},
        "utility": {"objective": "differences", "information": "departure"},
    }
}
"""Settings under one name. paper: the method of the paper. The default differs in four ways: on finite plants plans minimise
the expected regret, it takes the eager first move of a plan, continuous candidates are annealed, and a move informs about the
state where it arrives."""

RETIRED: dict[str, tuple[str, str]] = {
    "planner.linear.hot_start": ("0.2.0", "remove it; every solve starts cold"),
}
"""Removed settings: since which version, and what to do. Files of earlier versions may still name them."""

DEFAULTS_BEFORE: dict[str, Any] = {"utility": {"objective": "differences"}, "planner": {"first_move": "eager"}}
"""Defaults of earlier versions that have changed: stored campaigns that do not name them continue with these."""


def settings_from(*layers: dict[str, Any]) -> Settings:
    """Settings from nested dicts; later ones override earlier ones key by key. Any fault raises one `BadInput`."""
    merged: dict[str, Any] = {}
    for layer in map(_without_preset, layers):
        feedback = layer.get("feedback")
        # Naming another kind of feedback drops the delay of a weaker layer.
        if isinstance(feedback, dict) and feedback.get("kind") not in (None, "delayed") and "delay" not in feedback:
            layer = {**layer, "feedback": {**feedback, "delay": 0}}
        merged = _merge(merged, layer)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise BadInput("; ".join(_explain(detail) for detail in error.errors())) from None


def stored_settings(*layers: dict[str, Any]) -> Settings:
    """The settings of a campaign that an earlier version of this package may have written, with the defaults of then."""
    return settings_without_retired(DEFAULTS_BEFORE, *layers)


def settings_without_retired(*layers: dict[str, Any]) -> Settings:
    """Settings from layers that may name what is gone since: it is left out."""
    for name in RETIRED:
        layers = tuple(_without(layer, name.split(".")) for layer in layers)
    return settings_from(*layers)


def _without_preset(layer: dict[str, Any]) -> dict[str, Any]:
    """A layer with the settings that its preset stands for; what it names itself wins."""
    name = layer.get("preset")
    if name is not None and name not in list(PRESETS):
        raise BadInput(f"setting 'preset': got {name!r}; use {' or '.join(PRESETS)}, or leave it out")
    return _merge(PRESETS[name] if name else {}, _without(layer, ["preset"]))


def _without(data: Any, path: list[str]) -> Any:
    """Nested dicts without one entry; unchanged where there is none."""
    if not isinstance(data, dict) or path[0] not in data:
        return data
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    return {**data, path[0]: _without(data[path[0]], path[1:])}


def merged(*layers: dict[str, Any]) -> dict[str, Any]:
    """Nested dicts as one, later ones winning key by key; nothing is checked."""
    whole: dict[str, Any] = {}
    for layer in layers:
        whole = _merge(whole, layer)
    return whole


def _merge(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    merged = dict(low)
    for key, value in high.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _explain(detail: Any) -> str:
    path = [str(part) for part in detail["loc"]]
    where = ".".join(path)
    if where in RETIRED:
        version, advice = RETIRED[where]
        return f"setting '{where}' was removed in {version}; {advice}"
    if detail["type"] == "extra_forbidden":
        section: Any = Settings
        for part in path[:-1]:
            section = section.model_fields[part].annotation
        return f"unknown setting '{where}'; {suggestion(path[-1], [*section.model_fields, *(['preset'] * (len(path) == 1))])}"
    message = detail["msg"].removeprefix("Value error, ")
    if not where:  # Two settings that do not go together.
        return f"settings: {message}"
    return f"setting '{where}': got {detail['input']!r}; {message[0].lower()}{message[1:]}"
