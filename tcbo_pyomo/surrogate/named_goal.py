"""Goals by their names, as problems, settings and campaign files have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import NUMBERS
from tcbo_pyomo.surrogate.extremes import Maximise, Minimise
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.target import Target


def goal_from(given: Any, where: str = "goal") -> Goal:
    """The goal that a user names: maximise, minimise, or {target: 42}."""
    if isinstance(given, Goal):
        return given
    named = {kind.name: kind for kind in (Maximise, Minimise)}
    if isinstance(given, str) and given in named:
        return named[given]()
    if isinstance(given, Mapping) and set(given) == {"target"}:
        value = given["target"]
        if isinstance(value, NUMBERS) and not isinstance(value, bool) and np.isfinite(value):
            return Target(float(value))
    raise BadInput(
        f"{where}: got {given!r}; use maximise, minimise, or {{target: 42}} with a finite number in the unit of the output"
    )
