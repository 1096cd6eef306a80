"""The runs of a study: every case (problem, feedback, method, settings) with every seed, each under its key.

The key is a digest of everything that determines the numbers of a run: the problem with its limits, budget and truth, the
sources of every module of the user's behind it, the method, all settings, the seed, and the version since which these
give the same moves. A run that is stored under its key is never made twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property, singledispatch
from itertools import product
from pathlib import Path
from typing import Any

from tcbo_pyomo._version import MOVES_SINCE, REACHABLE_SINCE
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.foundation.registry import find_beside_user
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.planning.finite.chosen_solver import chosen_solver
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.records.determining_parts import Parts, file_part, is_shipped, problem_parts, source_parts
from tcbo_pyomo.records.problem_source import problem_fingerprint
from tcbo_pyomo.settings import RETIRED, FeedbackSettings, Settings, settings_without_retired
from tcbo_pyomo.studies.automatic_choices import SETTINGS, automatic_choices, with_choices
from tcbo_pyomo.studies.study import ProblemEntry, Study

log = logging.getLogger(__name__)

REFERENCE_SEED = 0
"""With which a problem is built for the parts of its key: the seeds of a study may change, and known runs stay known."""
DEFAULT_BEFORE = "highs"
"""The linear solver that 0.1.0 used where none was named; its runs do not name it either."""


@dataclass(frozen=True)
class Case:
    """What is repeated with every seed: labels for the tables, and the settings that are not defaults as plain data.

    `solver` is the linear oracle of a finite plant, found by `auto` or named.
    """

    problem: str
    feedback: str
    method: str
    setting: str
    source: str
    settings: dict[str, Any]
    fingerprint: str
    truth: str = "known"
    solver: str = ""
    parts: Parts = field(default_factory=dict)
    """What determines the numbers, see `determining_parts`."""
    data: str = ""
    """The file of past experiments that the runs start from; by its content it is one of the parts."""

    @property
    def label(self) -> str:
        """The case in words."""
        return ", ".join(filter(None, (self.problem, self.feedback, self.method, self.setting)))


@dataclass(frozen=True)
class Run:
    """One campaign to simulate; plain data that can be sent to another process or machine."""

    case: Case
    seed: int
    search_path: str = ""
    """A folder where the modules of settings such as 'my_module:MyRule' may stand; not part of the key."""

    @cached_property
    def key(self) -> str:
        """A digest of all that determines the numbers; labels do not."""
        case = self.case
        parts = {name: part for name, part in case.parts.items() if name not in SETTINGS}
        return _digest([MOVES_SINCE, parts, self._named_settings, self.seed, case.truth])

    @cached_property
    def key_of_0_1_0(self) -> str:
        """The key of versions that did not see a change of truth, episodes or sources."""
        case = self.case
        source = Path(case.source).name if case.source.endswith(".py") else case.source
        facts = [MOVES_SINCE, source, case.fingerprint, self._named_settings, self.seed]
        if case.data:
            facts.append(case.parts)  # No run of these versions had past experiments.
        return _digest(facts if case.truth == "known" else [*facts, case.truth])

    @property
    def _named_settings(self) -> dict[str, Any]:
        """The settings with what `auto` stands for in them."""
        return with_choices(_with_solver(self.case.settings, self.case.solver), self.case.parts)

    @property
    def label(self) -> str:
        """The run in words."""
        return f"{self.case.label}, seed {self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """The run as plain data."""
        return {**asdict(self.case), "seed": self.seed}


def _digest(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def runs_of(study: Study, search_path: str = "") -> list[Run]:
    """All runs in the order of the study; whatever cannot run is refused here, before anything is run."""
    if search_path:
        find_beside_user(search_path)
    places = product(study.problems, study.feedback or (None,))
    cases = [case for problem, feedback in places for case in _cases(study, problem, feedback)]
    _refuse_equal(cases, study.seeds[0])
    return [Run(case, seed, search_path) for case in cases for seed in study.seeds]


def _cases(study: Study, problem: ProblemEntry, feedback: FeedbackSettings | None) -> Iterator[Case]:
    built = load_problem(problem.problem, feedback.kind if feedback else None, study.seeds[0])
    if not built.simulated and study.truth == "known":
        raise BadInput(
            f"study '{study.name}': problem '{problem.label}' has no known truth to simulate; "
            "`truth: drawn` draws one from its prior for every seed"
        )
    fingerprint, parts = problem_fingerprint(built), _parts(study, problem, feedback, built)
    data = study.data_of(problem)
    own = {"feedback": feedback.model_dump()} if feedback else {}
    points = [tuple(zip(study.grid, values, strict=True)) for values in product(*study.grid.values())]
    for method, point in product(study.methods, points):
        given = (study.settings, problem.settings, method.settings, own, {"method": method.method})
        layers = (*given, *(nested(name, value) for name, value in point))
        try:
            settings = settings_without_retired(dict(built.settings), *layers)
            # Builds the planner as well: a method that cannot serve this problem says so now.
            campaign = Campaign(built, settings, study.seeds[0], data or None)
            solver, as_ever = _linear_oracle(campaign.problem, settings), _moves_as_ever(campaign.problem)
            choices = automatic_choices(campaign.problem, settings)
        except TcboError as error:
            label = ", ".join(filter(None, (problem.label, method.label, setting_label(point))))
            raise type(error)(f"study '{study.name}', {label}: {error}") from error
        stored = _with_retired(settings.model_dump(mode="json", exclude_defaults=True), layers)
        yield Case(
            problem=problem.label,
            feedback=feedback_label(settings.feedback),
            method=method.label,
            setting=setting_label(point),
            source=problem.problem,
            settings=stored,
            fingerprint=fingerprint if as_ever else f"{fingerprint} {REACHABLE_SINCE}",
            truth=study.truth,
            solver=solver,
            parts={
                **parts,
                **({} if as_ever else {"reach": REACHABLE_SINCE}),
                **choices,
                **source_parts(problem.problem, stored),
                **file_part(data),
            },
            data=data,
        )


def _parts(study: Study, problem: ProblemEntry, feedback: FeedbackSettings | None, built: ProblemProtocol) -> Parts:
    """The parts of a problem, which do not depend on the seeds of the study."""
    if study.seeds[0] != REFERENCE_SEED:
        # A problem that cannot be built with this seed is known by the study's first one.
        with suppress(TcboError):
            built = load_problem(problem.problem, feedback.kind if feedback else None, REFERENCE_SEED)
    parts = problem_parts(built, is_shipped(problem.problem))
    return {name: digest for name, digest in parts.items() if name != "truth" or study.truth == "known"}


@singledispatch
def _moves_as_ever(problem: ProblemProtocol) -> bool:
    """Whether `MOVES_SINCE` holds for a problem."""
    return True


@_moves_as_ever.register
def _(problem: Problem) -> bool:
    """Where rules that add up over an episode keep it from states, these are no candidates any more."""
    return bool((problem.search_space == problem.sets.states_met(problem.start_state)).all())


@_moves_as_ever.register
def _(problem: ContinuousProblem) -> bool:
    """Where an episode cannot reach the whole box, what it cannot reach is no candidate any more."""
    return problem.reaches_everything


@singledispatch
def _linear_oracle(problem: ProblemProtocol, settings: Settings) -> str:
    """What solves the linear subproblems, found by `auto` or named; nothing on a continuous plant."""
    return ""


@_linear_oracle.register
def _(problem: Problem, settings: Settings) -> str:
    return chosen_solver(problem, settings.planner.linear).name


def _with_solver(settings: dict[str, Any], solver: str) -> dict[str, Any]:
    """Settings with the linear oracle that is used; without `highs`, the default before 0.2.0: runs made then are found."""
    planner = settings.get("planner", {})
    linear = {key: value for key, value in planner.get("linear", {}).items() if key != "solver"}
    if solver not in ("", DEFAULT_BEFORE):
        linear["solver"] = solver
    planner = {
        **{key: value for key, value in planner.items() if key != "linear"},
        **({"linear": linear} if linear else {}),
    }
    rest = {key: value for key, value in settings.items() if key != "planner"}
    return {**rest, **({"planner": planner} if planner else {})}


def _with_retired(settings: dict[str, Any], layers: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Settings with those of earlier versions that the author names: by them runs that were made then are found again."""
    for name, layer in product(RETIRED, layers):
        *sections, last = name.split(".")
        for section in sections:
            layer = layer.get(section) if isinstance(layer.get(section), dict) else {}
        if layer.get(last):
            log.warning("setting '%s' was removed in %s and has no effect; %s", name, *RETIRED[name])
            place = settings
            for section in sections:
                place = place.setdefault(section, {})
            place[last] = layer[last]
    return settings


def nested(name: str, value: Any) -> dict[str, Any]:
    """`planner.components` and 10 as {"planner": {"components": 10}}."""
    parts = name.split(".")
    if not all(part.strip() for part in parts):
        raise BadInput(f"grid: '{name}' is not the name of a setting; write it as planner.components")
    for part in reversed(parts):
        value = {part: value}
    return dict(value)


def setting_label(point: tuple[tuple[str, Any], ...]) -> str:
    """The point of a grid in words."""
    return ", ".join(f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in point)


def feedback_label(feedback: FeedbackSettings) -> str:
    """The kind of feedback, with its delay if it has one: `delayed 25`."""
    return f"{feedback.kind} {feedback.delay}" if feedback.delay else feedback.kind


def _refuse_equal(cases: list[Case], seed: int) -> None:
    """Two cases that are the same run under two names would be counted twice."""
    seen: dict[str, Case] = {}
    for case in cases:
        other = seen.setdefault(Run(case, seed).key, case)
        if other is not case:
            raise BadInput(
                f"the cases '{other.label}' and '{case.label}' have the same problem, method and settings; keep one of them"
            )
