"""The reaction-kinetics feature (appendix "Kernel for ODE Knorr pyrazole synthesis").

Five species y1..y5 (product, two reactants, intermediate, water) react with

    R1 = k1 y2 y3 - k2 y4 y5, R2 = k3 y4, y' = (R2, -R1, -R1, R1 - R2, R1 + R2), y(0) = (0, 1 - B, B, 0, 0).

Linearised at an equilibrium with one reactant used up (y3 = 0, y2 = b, y5 = c; or y2 = 0, y3 = b, y5 = c) the
product is that reactant's feed times the conversion

    g(t) = l2 / (l1 - l2) exp(l1 t) - l1 / (l1 - l2) exp(l2 t) + 1,

l1 <= l2 < 0 the non-zero eigenvalues of the Jacobian J_1 or J_2. A sigmoid S(B) centred at 0.5 joins both,

    y(t, B) = (1 - S(B)) B g_1(t) + S(B) (1 - B) g_2(t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.elementary_functions import exp, expit, exprel
from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature

EQUAL = 1e-5
"""Eigenvalues closer than this, relatively, are one in a Pyomo expression: the quotient would lose all digits."""


def eigenvalues(k1: float, k2: float, k3: float, reactant: float, water: float) -> tuple[float, float]:
    """The non-zero eigenvalues l1 <= l2 < 0, the same for J_1 and J_2."""
    total = reactant * k1 + water * k2 + k3
    product = reactant * k1 * k3
    fast = -0.5 * (total + math.sqrt(max(total**2 - 4.0 * product, 0.0)))
    # l1 l2 = b k1 k3; subtracting the root instead would cancel all digits when k3 is large.
    return fast, product / fast


def conversion(time: Array, fast: float, slow: float) -> tuple[Array, Array, Array]:
    """g(t) and its first and second derivative at n times, from l1 = `fast` and l2 = `slow`.

    Written with exprel(x) = (exp(x) - 1) / x, which needs no division by l1 - l2: the two may be equal.
    """
    decay = np.exp(slow * time)
    spread = time * exprel((fast - slow) * time)
    value = 1.0 - decay * (1.0 - slow * spread)
    return value, fast * slow * decay * spread, fast * slow * decay * (1.0 + fast * spread)


def conversion_expression(time: Any, fast: float, slow: float) -> Any:
    """g(t) as a Pyomo expression; as t = 0 is a point of the plant, exprel would be 0 / 0 there."""
    if abs(fast - slow) < EQUAL * abs(fast):
        both = 0.5 * (fast + slow)
        return 1.0 - exp(both * time) * (1.0 - both * time)
    return 1.0 + (slow * exp(fast * time) - fast * exp(slow * time)) / (fast - slow)


@dataclass(frozen=True)
class ReactionKinetics(SingleFeature):
    """Product concentration y(t, B) of the linearised kinetics, with an uncertain weight.

    Defaults are the paper's (appendix "Benchmark Details"); both linearisation points are at b = 0.1, c = 0.

    Parameters
    ----------
    weight_mean, weight_variance
        Normal prior of the feature's weight.
    residence_time_axis, ratio_axis
        Which columns of a point are the residence time t and the ratio B.
    residence_time_lower, residence_time_upper, ratio_lower, ratio_upper
        Physical bounds of the two axes (minutes; fraction), at -0.5 and 0.5 in scaled coordinates.
    k1, k2, k3
        Rate constants: reactants to intermediate, back, and intermediate to product.
    sigmoid_steepness
        alpha_sig of S(B) = 1 / (1 + exp(-alpha_sig (B - 0.5))).
    reactants, water
        b and c of the two linearisation points: the excess reactant and the water there.
    """

    weight_mean: float = 0.6
    weight_variance: float = 0.0225
    residence_time_axis: int = 0
    ratio_axis: int = 1
    residence_time_lower: float = 0.0
    residence_time_upper: float = 40.0
    ratio_lower: float = 0.0
    ratio_upper: float = 1.0
    k1: float = 10.0
    k2: float = 874.0
    k3: float = 19200.0
    sigmoid_steepness: float = 5.0
    reactants: tuple[float, float] = (0.1, 0.1)
    water: tuple[float, float] = (0.0, 0.0)

    vectors: ClassVar[tuple[str, ...]] = ("reactants", "water")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers(["k1", "k2", "k3", "sigmoid_steepness", "reactants"])
        self._check_numbers(["water"], "two finite numbers of at least 0", lambda number: number >= 0)
        bounds = ("residence_time_lower", "residence_time_upper", "ratio_lower", "ratio_upper")
        self._check_numbers(bounds, "a finite number", lambda number: True)
        for name in self.vectors:
            if np.size(getattr(self, name)) != 2:
                raise self._refused(name, "two numbers, one per linearisation")
        for name in ("residence_time", "ratio"):
            if getattr(self, f"{name}_lower") >= getattr(self, f"{name}_upper"):
                raise self._refused(f"{name}_lower", f"below {name}_upper {getattr(self, f'{name}_upper')}")
            axis = getattr(self, f"{name}_axis")
            if isinstance(axis, bool) or not isinstance(axis, int) or axis < 0:
                raise self._refused(f"{name}_axis", "the number of a column, from 0")
        if self.residence_time_axis == self.ratio_axis:
            raise self._refused("ratio_axis", "another column than residence_time_axis")

    def feature(self, points: Array) -> Array:
        """y(t, B) of n points."""
        return (self._feeds(points)[0] * self._conversions(points)[0]).sum(axis=0)

    def feature_expression(self, point: Sequence[Any]) -> Any:
        """y(t, B) of one point, from Pyomo expressions."""
        time = self.residence_time_lower + (point[self.residence_time_axis] + 0.5) * self._width("residence_time")
        ratio = self.ratio_lower + (point[self.ratio_axis] + 0.5) * self._width("ratio")
        share = 1.0 / (1.0 + exp(-self.sigmoid_steepness * (ratio - 0.5)))
        first, second = (conversion_expression(time, *pair) for pair in self._eigenvalues())
        return (1.0 - share) * ratio * first + share * (1.0 - ratio) * second

    def feature_gradient(self, points: Array) -> Array:
        """First derivatives of y, n x d; zero along axes other than t and B."""
        feeds, conversions = self._feeds(points), self._conversions(points)
        gradient = np.zeros(points.shape)
        gradient[:, self.residence_time_axis] = (feeds[0] * conversions[1]).sum(axis=0)
        gradient[:, self.ratio_axis] = (feeds[1] * conversions[0]).sum(axis=0)
        return gradient

    def feature_hessian(self, points: Array) -> Array:
        """Second derivatives of y, n x d x d."""
        feeds, conversions = self._feeds(points), self._conversions(points)
        time, ratio = self.residence_time_axis, self.ratio_axis
        hessian = np.zeros((*points.shape, points.shape[1]))
        hessian[:, time, time] = (feeds[0] * conversions[2]).sum(axis=0)
        hessian[:, ratio, ratio] = (feeds[2] * conversions[0]).sum(axis=0)
        hessian[:, time, ratio] = hessian[:, ratio, time] = (feeds[1] * conversions[1]).sum(axis=0)
        return hessian

    def _conversions(self, points: Array) -> Array:
        """g_1 and g_2 with derivatives by the scaled residence time: order (3) x linearisation (2) x n."""
        width = self._width("residence_time")
        time = self.residence_time_lower + self._unit_column(points, "residence_time_axis") * width
        profiles = [conversion(time, *pair) for pair in self._eigenvalues()]
        return np.array(profiles).swapaxes(0, 1) * np.array([1.0, width, width**2])[:, None, None]

    def _feeds(self, points: Array) -> Array:
        """(1 - S) B and S (1 - B) with derivatives by the scaled ratio: order (3) x linearisation (2) x n."""
        width = self._width("ratio")
        ratio = self.ratio_lower + self._unit_column(points, "ratio_axis") * width
        share = expit(self.sigmoid_steepness * (ratio - 0.5))
        first = self.sigmoid_steepness * share * (1.0 - share)
        second = self.sigmoid_steepness * first * (1.0 - 2.0 * share)
        feeds = np.array(
            [
                [(1.0 - share) * ratio, share * (1.0 - ratio)],
                [1.0 - share - first * ratio, first * (1.0 - ratio) - share],
                [-2.0 * first - second * ratio, second * (1.0 - ratio) - 2.0 * first],
            ]
        )
        return feeds * np.array([1.0, width, width**2])[:, None, None]

    def _eigenvalues(self) -> list[tuple[float, float]]:
        """l1 and l2 of both linearisations."""
        points = zip(self.reactants, self.water, strict=True)
        return [eigenvalues(self.k1, self.k2, self.k3, reactant, water) for reactant, water in points]

    def _width(self, axis: str) -> float:
        """The physical width of an axis."""
        return float(getattr(self, f"{axis}_upper") - getattr(self, f"{axis}_lower"))

    def _unit_column(self, points: Array, name: str) -> Array:
        """One column of the scaled points, between 0 and 1."""
        axis, dimension = getattr(self, name), points.shape[1]
        if axis >= dimension:
            raise self._refused(name, f"below {dimension}, the number of coordinates")
        return points[:, axis] + 0.5
