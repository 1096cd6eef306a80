"""Elementary functions of numbers, arrays and Pyomo expressions alike: a formula written with them serves all three."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np


def exp(x: Any) -> Any:
    """exp(x)."""
    return np.exp(x) if _is_numeric(x) else _pyomo().exp(x)


def sqrt(x: Any) -> Any:
    """The square root of x."""
    return np.sqrt(x) if _is_numeric(x) else _pyomo().sqrt(x)


def _is_numeric(x: Any) -> bool:
    return isinstance(x, (np.ndarray, Number))


def _pyomo() -> Any:
    """Pyomo, loaded only where there is an expression of it: it takes half a second."""
    import pyomo.environ

    return pyomo.environ
