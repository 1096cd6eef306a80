"""What a rival needs of a problem, or the reason why the pair makes no sense."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem


def finite(problem: Any, method: str, instead: str) -> Problem:
    """The problem, if it is one on a finite process."""
    if not isinstance(problem, Problem):
        raise BadInput(
            f"method '{method}' chooses among the states of a finite process, and problem '{problem.name}' is "
            f"continuous; use {instead}"
        )
    return problem


def continuous(problem: Any, method: str, instead: str) -> ContinuousProblem:
    """The problem, if it is one on a continuous plant."""
    if not isinstance(problem, ContinuousProblem):
        raise BadInput(
            f"method '{method}' searches a box of set-points, and problem '{problem.name}' has a finite process; "
            f"use {instead}"
        )
    return problem
