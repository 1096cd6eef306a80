"""The reaction-kinetics feature as a Pyomo formula (appendix "Kernel for ODE Knorr pyrazole synthesis").

    y(t, B) = (1 - S(B)) B g_1(t) + S(B) (1 - B) g_2(t),   g(t) = 1 + (l2 exp(l1 t) - l1 exp(l2 t)) / (l1 -
    l2)

with l1 <= l2 < 0 the eigenvalues of the kinetics linearised at b = reactant, c = water, and S a sigmoid at B
= 0.5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyomo.environ as pyo

EQUAL = 1e-5
"""Eigenvalues closer than this, relatively, are treated as one: the quotient would lose all digits."""


def reaction_kinetics_feature(kernel: Mapping[str, Any], point: Sequence[Any]) -> Any:
    """y at a scaled point: a number for numbers, an expression for Pyomo variables."""
    time = _unscaled(kernel, "residence_time", point)
    ratio = _unscaled(kernel, "ratio", point)
    share = 1.0 / (1.0 + pyo.exp(-kernel["sigmoid_steepness"] * (ratio - 0.5)))
    first, second = (
        _conversion(kernel, time, reactant, water)
        for reactant, water in zip(kernel["reactants"], kernel["water"], strict=True)
    )
    return (1.0 - share) * ratio * first + share * (1.0 - ratio) * second


def _unscaled(kernel: Mapping[str, Any], axis: str, point: Sequence[Any]) -> Any:
    lower, upper = kernel[f"{axis}_lower"], kernel[f"{axis}_upper"]
    return lower + (point[kernel[f"{axis}_axis"]] + 0.5) * (upper - lower)


def _conversion(kernel: Mapping[str, Any], time: Any, reactant: float, water: float) -> Any:
    """g(t)."""
    k1, k2, k3 = kernel["k1"], kernel["k2"], kernel["k3"]
    total, product = reactant * k1 + water * k2 + k3, reactant * k1 * k3
    fast = -0.5 * (total + math.sqrt(max(total**2 - 4.0 * product, 0.0)))
    # l1 l2 = b k1 k3: the product gives the small eigenvalue without cancellation.
    slow = product / fast
    if abs(fast - slow) < EQUAL * abs(fast):
        both = 0.5 * (fast + slow)
        return 1.0 - pyo.exp(both * time) * (1.0 - both * time)
    return 1.0 + (slow * pyo.exp(fast * time) - fast * pyo.exp(slow * time)) / (fast - slow)
