"""Elementary functions of numbers, arrays and Pyomo expressions alike: a formula written with them serves all three."""

from __future__ import annotations

from typing import Any

import numpy as np

NUMBERS = (np.ndarray, np.generic, float, int)
"""What numpy computes; anything else is a Pyomo expression."""


def exp(x: Any) -> Any:
    """exp(x)."""
    return np.exp(x) if isinstance(x, NUMBERS) else _pyomo().exp(x)


def sqrt(x: Any) -> Any:
    """The square root of x."""
    return np.sqrt(x) if isinstance(x, NUMBERS) else _pyomo().sqrt(x)


def _pyomo() -> Any:
    """Pyomo, loaded only where there is an expression of it: it takes half a second."""
    import pyomo.environ

    return pyomo.environ
