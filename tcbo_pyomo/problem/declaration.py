"""A problem as plain data: all that a campaign file needs to show, export, judge and recommend without any code of users.

`declaration_of` writes it, `declared_problem` reads it. The problem read back is a `Problem` or a `ContinuousProblem` like any
other; where a plan would need a rule, a function or a kernel of a user's own, it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.surrogate.extremes import MAXIMISE

WORDS = ("name", "description", "output", "output_unit", "output_title")


def declaration_of(problem: ProblemProtocol) -> dict[str, Any]:
    """Everything about a problem but its truth, as data that JSON can hold."""
    start = problem.start_state
    return {
        **{name: str(getattr(problem, name)) for name in WORDS},
        "coordinates": [[c.name, float(c.lower), float(c.upper), c.unit] for c in problem.coordinates],
        "start": list(start) if isinstance(start, tuple) else int(start),
        "horizon": int(problem.horizon),
        "episodes": int(problem.episodes),
        "kernel": problem.kernel.to_dict(),
        **({} if problem.prior is None else {"prior": problem.prior.to_dict()}),
        **({} if problem.goal == MAXIMISE else {"goal": problem.goal.data}),
        "plant": problem.plant_data(),
    }


def declared_problem(data: Mapping[str, Any]) -> ProblemProtocol:
    """The problem that `declaration_of` described."""
    kind = data["plant"]["kind"]
    if kind == "finite":
        from tcbo_pyomo.problem.declared_finite import declared_finite

        return declared_finite(data)
    if kind == "continuous":
        from tcbo_pyomo.problem.declared_continuous import declared_continuous

        return declared_continuous(data)
    raise BadInput(f"a stored plant of kind {kind!r} was not written by this version")


def opaque_parts(data: Mapping[str, Any]) -> list[str]:
    """What of a declaration only its own code knows in full: a change of that code cannot be seen in the data."""
    plant = data["plant"]
    found = [rule["name"] for rule in plant["rules"] if "use" not in rule and "table" not in rule]
    dynamics = plant.get("dynamics", {})
    if dynamics.get("kind") == "code" and dynamics.get("arithmetic") is None and dynamics.get("step") is None:
        found.append(f"dynamics '{dynamics['name']}'")
    if dynamics.get("actions", {}).get("kind") == "other":
        found.append("limits of the actions")
    return found
