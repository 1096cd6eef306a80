"""What `auto` stands for in a run, by name: a new default changes the keys of those runs only whose moves it changes.

Before 0.2.0 `utility.objective` was `differences` and `planner.first_move` was `eager` where nothing was named. A run that has
these now, by name or because `auto` stands for them, has the key it always had; one for which `auto` stands for something
else has that of a run that names it.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from tcbo_pyomo.methods.protocol import load_method
from tcbo_pyomo.planning.finite.eager_move import leads_everywhere
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import DEFAULTS_BEFORE, Settings

OBJECTIVE, FIRST_MOVE = "objective of plans", "first move of plans"
SETTINGS = {OBJECTIVE: ("utility", "objective"), FIRST_MOVE: ("planner", "first_move")}
"""Their names among the parts that determine the numbers of a run, and the settings that they are."""
GO_AND_STAY = {"where every place is one move away": "go and stay"}
"""The part of plans for the expected regret on such plants, whose first moves were other ones at first."""


def automatic_choices(problem: ProblemProtocol, settings: Settings) -> dict[str, str]:
    """As parts: what `auto` stands for where that is another choice than in earlier versions and the method asks for it."""
    if not load_method(settings.method).uses_utility:
        return {}
    found: dict[str, str] = {}
    named = {OBJECTIVE: settings.utility.objective, FIRST_MOVE: settings.planner.first_move}
    for part, choice in _choices(problem, settings).items():
        section, name = SETTINGS[part]
        if named[part] == "auto" and choice != DEFAULTS_BEFORE[section][name]:
            found[part] = choice
    return found | _other_moves(problem, settings)


@singledispatch
def _choices(problem: ProblemProtocol, settings: Settings) -> dict[str, str]:
    return {OBJECTIVE: settings.continuous_objective}


@_choices.register
def _(problem: ContinuousProblem, settings: Settings) -> dict[str, str]:
    first_move = settings.planner.continuous_first_move(problem.moves_can_be_undone)
    return {OBJECTIVE: settings.continuous_objective, FIRST_MOVE: first_move}


@_choices.register
def _(problem: Problem, settings: Settings) -> dict[str, str]:
    return {OBJECTIVE: settings.finite_objective, FIRST_MOVE: settings.planner.finite_first_move}


@singledispatch
def _other_moves(problem: ProblemProtocol, settings: Settings) -> dict[str, str]:
    return {}


@_other_moves.register
def _(problem: Problem, settings: Settings) -> dict[str, str]:
    eager = settings.planner.finite_first_move == "eager" and settings.finite_objective == "regret"
    return GO_AND_STAY if eager and leads_everywhere(problem).any() else {}


def with_choices(settings: dict[str, Any], parts: dict[str, str]) -> dict[str, Any]:
    """Settings that name the choices which are made; not those of earlier versions, which did not name them either."""
    for part, (section, name) in SETTINGS.items():
        own = dict(settings.get(section, {}))
        if part in parts:
            own[name] = parts[part]
        elif own.get(name) == DEFAULTS_BEFORE[section][name]:
            del own[name]
        rest = {key: value for key, value in settings.items() if key != section}
        settings = {**rest, **({section: own} if own else {})}
    return settings
