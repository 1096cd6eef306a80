"""A planned path, and the record of how it was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tcbo_pyomo.foundation.arrays import Array


@dataclass(frozen=True)
class SolveRecord:
    """One attempt: where it started, what the solver said, and what our own arithmetic says about it.

    Attributes
    ----------
    origin
        The warm start it began from.
    status
        What the solver said, or the error it raised.
    value
        The objective it reached; None without finite values.
    feasible
        Whether the path may be used.
    violation, refused
        The largest amount by which a row or bound is missed, and what was refused; empty when feasible.
    seconds, iterations
        What it took.
    """

    origin: str
    status: str
    value: float | None
    feasible: bool
    violation: float | None
    refused: str
    seconds: float
    iterations: int


@dataclass(frozen=True)
class PlanRecord:
    """How a plan was found.

    Attributes
    ----------
    solver
        Solver and interface.
    used
        "solver", or "warm start" when no solve gave anything better.
    origin
        The warm start the plan began from.
    reason
        Why a warm start was used; empty otherwise.
    warm_start_value
        The best feasible warm start; the plan is never worse.
    seconds
        Time of the whole plan.
    solves
        Every attempt.
    """

    solver: str
    used: str
    origin: str
    reason: str
    warm_start_value: float
    seconds: float
    solves: tuple[SolveRecord, ...]


@dataclass(frozen=True, eq=False)
class TrajectoryPlan:
    """A path for a whole episode.

    Attributes
    ----------
    states, actions
        H + 1 x d scaled states, the past included, and H x q actions.
    value
        The objective, summed over the points not yet visited.
    record
        How the plan was found.
    columns
        All columns of the compiled model, with the variables that constraints added: a warm start of the next
        plan.
    """

    states: Array
    actions: Array
    value: float
    record: PlanRecord
    columns: Array

    def facts(self) -> dict[str, Any]:
        """How it was found, as plain data that does not depend on the clock."""
        found = asdict(self.record)
        found.pop("seconds")
        found["solves"] = [{name: v for name, v in solve.items() if name != "seconds"} for solve in found["solves"]]
        return {"value": self.value, **found}
