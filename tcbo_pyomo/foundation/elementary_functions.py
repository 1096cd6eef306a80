"""Elementary functions of numbers, arrays and Pyomo expressions alike: a formula written with them serves all three."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

TINY = 1e-16
LARGE = 709.7
"""Beyond it exp(x) is no double any more."""
NUMBERS = (np.ndarray, np.generic, float, int)
"""What numpy computes; anything else is a Pyomo expression."""


def exp(x: Any) -> Any:
    """exp(x)."""
    return np.exp(x) if isinstance(x, NUMBERS) else _pyomo().exp(x)


def sqrt(x: Any) -> Any:
    """The square root of x."""
    return np.sqrt(x) if isinstance(x, NUMBERS) else _pyomo().sqrt(x)


def expit(x: Array) -> Array:
    """The sigmoid 1 / (1 + exp(-x)) of numbers; loading that of SciPy takes longer than most commands."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -LARGE, LARGE)))


def exprel(x: Array) -> Array:
    """(exp(x) - 1) / x of numbers, 1 at 0; loading that of SciPy takes longer than most commands."""
    tiny = np.abs(x) < TINY
    bounded = np.where(tiny, 1.0, np.minimum(x, LARGE))
    return np.where(tiny, 1.0, np.where(x > LARGE, np.inf, np.expm1(bounded) / bounded))


def _pyomo() -> Any:
    """Pyomo, loaded only where there is an expression of it: it takes half a second."""
    import pyomo.environ

    return pyomo.environ
