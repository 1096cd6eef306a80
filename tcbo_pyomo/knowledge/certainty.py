"""Enough is known, or not yet: the number behind it, in words; `drawn_regrets.py` computes it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tcbo_pyomo.foundation.wording import with_unit


@dataclass(frozen=True)
class Certainty:
    """How sure it is that the recommendation is good enough.

    Attributes
    ----------
    probability
        That it is within the tolerance of the best reachable point.
    tolerance
        In the unit of the output.
    wanted
        The probability at which enough is known.
    enough_known
        Whether it is reached.
    doubt
        Where it is reached: why the probability may be too high, in words.
    """

    probability: float
    tolerance: float
    wanted: float
    enough_known: bool
    doubt: str = ""

    def in_words(self, unit: str = "") -> str:
        """`enough is known: with probability 0.93 the recommendation is within 0.01 mol of the best reachable point`."""
        said = f"with probability {_shown(self.probability)} the recommendation is {self._within(unit)}"
        if self.enough_known:
            doubt = f"; {self.doubt}" if self.doubt else ""
            return f"enough is known: {said} (wanted: {self.wanted:g}){doubt}"
        return f"not enough is known yet: {said}, wanted is {self.wanted:g}"

    def _within(self, unit: str) -> str:
        if self.tolerance == 0.0:
            return "the best reachable point"
        return f"within {with_unit(self.tolerance, unit)} of the best reachable point"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Any) -> Certainty:
        """What `to_dict` returned; anything else is refused."""
        probability, tolerance, wanted = (float(data[name]) for name in ("probability", "tolerance", "wanted"))
        if not isinstance(data["enough_known"], bool) or not math.isfinite(probability + tolerance + wanted):
            raise ValueError("what the row says about the stop is not a probability")
        return cls(probability, tolerance, wanted, data["enough_known"], str(data.get("doubt", "")))


def _shown(probability: float) -> str:
    """Never rounded up to certainty."""
    return f"{min(probability, 0.999):.3f}" if probability > 0.995 else f"{probability:.2f}"
