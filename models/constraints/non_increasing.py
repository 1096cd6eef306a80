"""Non-increasing: a coordinate that may only fall."""

from __future__ import annotations

from typing import ClassVar

from tcbo_pyomo.models.constraints.non_decreasing import NonDecreasing


class NonIncreasing(NonDecreasing):
    """x_{h+1} <= x_h for one coordinate, within an episode."""

    direction: ClassVar[int] = -1
