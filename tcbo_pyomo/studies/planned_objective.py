"""What the plans of a run make small, by name: a new default changes the keys of those runs only whose moves it changes.

Before 0.2.0 `utility.objective` was `differences` where nothing was named. A run that is `differences` now, by name or because
`auto` stands for it, has the key it always had; one for which `auto` stands for `regret` has that of a run that names `regret`.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from tcbo_pyomo.methods.protocol import load_method
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import DEFAULTS_BEFORE, Settings

PART = "objective of plans"
"""Its name among the parts that determine the numbers of a run."""
BEFORE = DEFAULTS_BEFORE["utility"]["objective"]


def objective_part(problem: ProblemProtocol, settings: Settings) -> dict[str, str]:
    """The objective as a part where `auto` stands for another one than in earlier versions and the method asks for it."""
    if settings.utility.objective != "auto" or not load_method(settings.method).uses_utility:
        return {}
    objective = _objective(problem, settings)
    return {} if objective == BEFORE else {PART: objective}


@singledispatch
def _objective(problem: ProblemProtocol, settings: Settings) -> str:
    return settings.continuous_objective


@_objective.register
def _(problem: Problem, settings: Settings) -> str:
    return settings.finite_objective


def with_objective(settings: dict[str, Any], parts: dict[str, str]) -> dict[str, Any]:
    """Settings that name the objective which is used; not that of earlier versions, which did not name it either."""
    own = dict(settings.get("utility", {}))
    if PART in parts:
        own["objective"] = parts[PART]
    elif own.get("objective") == BEFORE:
        del own["objective"]
    rest = {key: value for key, value in settings.items() if key != "utility"}
    return {**rest, **({"utility": own} if own else {})}
