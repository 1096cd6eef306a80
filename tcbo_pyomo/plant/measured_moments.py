"""When a move is measured: several times while the plant moves, as a spectrometer does, or once where it arrives.

A moment is the share of a move that has passed, above 0 and at most 1. Where the plant is at the moments before the last is the
way of a move; it is worked out when the move is asked for, and kept with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.plant.situation import Location

Way = tuple[tuple[float, Location], ...]
"""Moments of a move before its end, in order, and where the plant is then."""
ARRIVED = 1.0
"""The moment at which a move ends."""
SAME_MOMENT = 1e-9
MOMENT = "moment"
"""The column of the share of a move that had passed when it was measured, in tables of plants measured on the way."""
Series = Sequence[tuple[float, float]] | Mapping[float, float]
"""Results of one move with the time since it began."""


def checked_moments(given: Any) -> tuple[float, ...]:
    """The moments of every move, from a number of measurements or a list of shares; the last is the end of the move."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 1:
        return tuple((k + 1) / int(given) for k in range(int(given)))
    listed = isinstance(given, Sequence) and not isinstance(given, str) and all(_is_number(share) for share in given)
    shares = [float(share) for share in given] if listed else []
    if not shares or any(b <= a for a, b in pairwise([0.0, *shares])) or shares[-1] != ARRIVED:
        raise BadInput(
            f"measured_at {given!r} must be a whole number of measurements per move of at least 1, or rising shares of a move "
            "that end with 1, such as (0.5, 1)"
        )
    return tuple(shares)


def refuse_named_moment(names: Sequence[str]) -> None:
    """Refuse a coordinate that has the name of a column which tables of such plants have."""
    if MOMENT in names:
        raise BadInput(f"coordinate '{MOMENT}': tables of moves measured on the way have a column of that name; rename it")


def is_series(value: Any) -> bool:
    """Whether a result is a series and not one number."""
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, (str, bytes)))


def checked_series(number: int, given: Any) -> list[tuple[float, Any]]:
    """Times and values of a series, in order; what is no list of pairs is refused."""
    rows = list(given.items()) if isinstance(given, Mapping) else list(given)
    for row in rows:
        if not (isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 2):
            raise BadInput(f"move {number}: {row!r} in its series must be (time since the move began, value)")
    times = [row[0] for row in rows]
    if not rows or not all(map(_is_number, times)) or any(b <= a for a, b in pairwise(times)):
        raise BadInput(f"move {number}: the times of its series, {times}, must be rising numbers, at least one")
    return [(float(time), value) for time, value in rows]


def moment_of(number: int, time: Any, duration: float | None) -> float:
    """The share of a move that has passed at a time since it began."""
    length = ARRIVED if duration is None else duration
    unit = "of the move, 1 is its end" if duration is None else "since the move began"
    if not _is_number(time) or not 0.0 < time <= length * (1.0 + SAME_MOMENT):
        raise BadInput(f"move {number}: time {time!r} {unit}; it must be above 0 and at most {length:g}")
    share = float(time) / length
    return ARRIVED if share >= ARRIVED - SAME_MOMENT else share


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
