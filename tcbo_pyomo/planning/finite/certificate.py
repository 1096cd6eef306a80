"""How far a plan is from the best possible one, with a proof: upper >= optimum >= lower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """Bounds on the smallest utility that any policy can reach, and what they cost.

    Attributes
    ----------
    upper
        The utility of the plan itself.
    lower
        No policy of the rest of the episode has a smaller utility than this. It is as exact as the linear oracle: to
        rounding with dynamic programming, to the solver's tolerance (1e-7 of the costs) with a linear programme.
    oracle_calls
        How many linear subproblems were solved.
    """

    upper: float
    lower: float
    oracle_calls: int

    @property
    def gap(self) -> float:
        """(upper - lower) / upper: at most this share of the plan's utility can be gained; 0 where it is 0."""
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for records."""
        return {"upper": self.upper, "lower": self.lower, "gap": self.gap, "oracle_calls": self.oracle_calls}
