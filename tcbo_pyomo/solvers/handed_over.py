"""Solver objects handed over from Python: a configured SolverFactory solver, or one of `pyomo.contrib.solver`.

Settings are plain data that campaigns keep on file, so an object gets a name, and the settings name it. A campaign that is
opened in another process needs the object handed over there again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcbo_pyomo.errors import BadInput

_OBJECTS: dict[str, Any] = {}


def hand_over_solver(name: str, solver: Any) -> str:
    """Give a solver object a name that settings can use; returns the name.

    Parameters
    ----------
    name
        For `planner.nonlinear.solver` (with `interface: pyomo`) or `planner.linear.solver`.
    solver
        What `pyomo.environ.SolverFactory(...)` or a class of `pyomo.contrib.solver` gives, with its options set.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise BadInput(f"solver name {name!r}: use a word of letters, digits and underscores, such as 'my_ipopt'")
    if not callable(getattr(solver, "solve", None)):
        raise BadInput(f"solver '{name}': {solver!r} has no method solve; give what SolverFactory(...) returns")
    _OBJECTS[name] = solver
    return name


def handed_over(name: str) -> Any:
    """The object of that name, or None."""
    return _OBJECTS.get(name)


def is_contributed(solver: Any) -> bool:
    """Whether a solver has the interface of `pyomo.contrib.solver`; the wrappers with both behave like SolverFactory's."""
    from pyomo.contrib.solver.common.base import LegacySolverWrapper, SolverBase

    return isinstance(solver, SolverBase) and not isinstance(solver, LegacySolverWrapper)


def run_contributed(solver: Any, model: Any, options: Mapping[str, Any], time_limit: float | None) -> tuple[str, bool]:
    """Solve with a `pyomo.contrib.solver` object and load what it found: its status in words, and whether it claims an optimum.

    The object's own options stay; those of the settings come on top.
    """
    from pyomo.contrib.solver.common.results import SolutionStatus

    more: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
    if options:
        more["solver_options"] = {**solver.config.solver_options.value(), **options}
    results = solver.solve(model, load_solutions=False, raise_exception_on_nonoptimal_result=False, **more)
    if results.solution_status in (SolutionStatus.optimal, SolutionStatus.feasible):
        results.solution_loader.load_vars()
    if results.solution_status is SolutionStatus.optimal:
        return "optimal", True
    return str(results.termination_condition.name), False
