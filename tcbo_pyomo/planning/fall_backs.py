"""Plans for which the nonlinear solver did nothing: such a plan is its warm start, a path without the information in it.

One of them is no harm, since every plan is feasible by our own arithmetic; where most plans are, the settings of the solver
are wrong, and whoever runs the campaign must know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

SOLVED = ("optimal", "acceptable", "locallyOptimal", "globallyOptimal", "feasible")
"""Statuses after which the path is the solver's, even if it is the warm start once more."""
BETTER = 1e-6
"""Share of the warm start's value by which another path must be better than rounding."""


@dataclass(frozen=True)
class FallBacks:
    """How many plans there were, how many of them are warm starts for want of a solve, and what the solver said."""

    plans: int
    number: int
    said: str

    def __str__(self) -> str:
        share = f"{self.number} of {self.plans} plans fell back to a warm start"
        return f"{share}: no solve improved it ({self.said}); see planner.nonlinear, first time_limit and max_iterations"


def fall_backs(plans: Iterable[dict[str, Any] | None]) -> FallBacks:
    """Count them in the records of plans; those of finite plants have no warm starts."""
    paths = [path for plan in plans if plan for path in plan.get("trajectories", ()) if path.get("solves")]
    fallen = [path for path in paths if not any(_helped(solve, path) for solve in path["solves"])]
    said = Counter(str(solve.get("status")) for path in fallen for solve in path["solves"])
    return FallBacks(len(paths), len(fallen), ", ".join(f"{status} {number} x" for status, number in said.most_common(3)))


def _helped(solve: dict[str, Any], path: dict[str, Any]) -> bool:
    """Whether a solve ended well, or found a feasible path that is better than the warm start."""
    start, value = path.get("warm_start_value"), solve.get("value")
    if not solve.get("feasible") or not isinstance(value, float) or not isinstance(start, float):
        return False
    return solve.get("status") in SOLVED or value < start - BETTER * abs(start)
