"""Which results can be, and which are a surprise: a slip of the pen, or something that the prior did not foresee."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import NUMBERS

SURPRISING = 5.0
"""Predictive standard deviations beyond which a result is a surprise."""

LARGEST_RESULT = 1e50
"""The largest magnitude of a result. The model multiplies results with each other and sums the products up; those of larger
ones would leave the range of floating-point numbers."""


@dataclass(frozen=True)
class Surprise:
    """What was expected of a result that came out unlikely.

    Attributes
    ----------
    expected, sd
        Mean and standard deviation of the result as the model saw it before, noise included.
    deviations
        How many of these standard deviations lie between the result and the mean.
    confirmed
        Whether somebody said that the result is right all the same.
    """

    expected: float
    sd: float
    deviations: float
    confirmed: bool = False

    def in_words(self, unit: str = "") -> str:
        """Half a sentence: `expected was 0.12 ± 0.3 g/l, 18 sd away`."""
        away = f"{self.deviations:.0f}" if 10 <= self.deviations < 1e6 else f"{self.deviations:.2g}"
        return f"expected was {self.expected:.4g} ± {self.sd:.2g} {unit}".rstrip() + f", {away} sd away"


def finite_value(where: str, value: Any) -> float:
    """A measurement as a number; anything that is not one finite number is refused."""
    found = math.nan
    if isinstance(value, NUMBERS) and not isinstance(value, bool):
        with suppress(OverflowError):  # A whole number of more than 300 digits.
            found = float(value)
    if not math.isfinite(found):
        raise BadInput(f"{where}: measurement {value!r} must be a finite number")
    return found


def checked_result(number: int, value: Any) -> float:
    """A result as a number that the model can compute with; others are refused."""
    return checked_magnitude(f"move {number}", finite_value(f"move {number}", value))


def checked_magnitude(where: str, found: float) -> float:
    """A finite measurement that the model can compute with; larger ones are refused."""
    if abs(found) > LARGEST_RESULT:
        raise BadInput(
            f"{where}: measurement {found!r} must be between -{LARGEST_RESULT:g} and {LARGEST_RESULT:g}, because "
            "the model computes with squares of results; check the number and its unit"
        )
    return found


def surprise_of(value: float, mean: float, sd: float, confirmed: bool = False) -> Surprise | None:
    """The surprise that a result is, given what was predicted of it, noise included; None where it is none."""
    away = abs(value - mean) / sd
    return Surprise(mean, sd, away, confirmed) if away > SURPRISING else None


def surprise_from(data: Any) -> Surprise | None:
    """A surprise from plain data, as rows and saved files hold it."""
    return Surprise(**data) if isinstance(data, dict) else data
