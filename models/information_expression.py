"""The linearised utility as an explicit Pyomo expression (appendix "Linearizing the objective").

    - sum_h s(x_h)^2 / sigma^2,   s(x) = sum_j w_j k(x, c_j)

Any nonlinear solver that Pyomo can name may minimise it. Kernels come as plain data (`kernel.to_dict()`), so
that this file knows formulas and not the surrogate. The compiled route has the same sum in closed form and is
far faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyomo.environ as pyo

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.components import add_component
from tcbo_pyomo.models.reaction_kinetics_feature import reaction_kinetics_feature

ROUNDING = 1e-10
"""Added to the squared distance of the Matern kernels, whose root has no derivative at zero."""

KernelData = Mapping[str, Any]


def information_expression(
    model: pyo.ConcreteModel,
    kernel: KernelData,
    centers: Array,
    weights: Array,
    noise_variance: float,
    steps: Sequence[int],
) -> Any:
    """The linearised utility over the points of a trajectory model.

    Parameters
    ----------
    model
        The model of `build_trajectory`; gets Expression covariance[step] = s(x_step).
    kernel
        Plain data of a kernel that comes with the package.
    centers, weights
        c_j (m x d, scaled) and w_j (m).
    noise_variance
        sigma^2.
    steps
        The points of the path that count.
    """
    names = list(model.COORDINATES)

    def covariance_rule(_: Any, step: int) -> Any:
        point = [model.state[step, name] for name in names]
        return covariance_expression(kernel, point, centers.tolist(), weights.tolist())

    covariance = add_component(model, "covariance", pyo.Expression(list(steps), rule=covariance_rule))
    return -sum(covariance[step] ** 2 for step in steps) / noise_variance


def covariance_expression(
    kernel: KernelData, point: Sequence[Any], centers: list[list[float]], weights: list[float]
) -> Any:
    """s(x) = sum_j w_j k(x, c_j) of one point."""
    name = kernel["name"]
    if name not in FORMULAS:
        raise BadInput(
            f"kernel '{name}' has no Pyomo formula; {suggestion(name, FORMULAS)}; or use the interface 'casadi'"
        )
    return FORMULAS[name](kernel, point, centers, weights)


def _stationary(correlation: Callable[[Any], Any]) -> Callable[..., Any]:
    """The weighted sum of a kernel that is `correlation` of the squared distance in lengthscales."""

    def formula(kernel: KernelData, point: Sequence[Any], centers: list[list[float]], weights: list[float]) -> Any:
        scale = kernel["lengthscale"]
        scales = scale if isinstance(scale, (list, tuple)) else [scale] * len(point)
        terms = []
        for center, weight in zip(centers, weights, strict=True):
            squared = sum(((x - c) / s) ** 2 for x, c, s in zip(point, center, scales, strict=True))
            terms.append(weight * kernel["variance"] * correlation(squared))
        return sum(terms)

    return formula


def _squared_exponential(squared: Any) -> Any:
    return pyo.exp(-0.5 * squared)


def _matern_three_halves(squared: Any) -> Any:
    s = pyo.sqrt(3.0 * squared + ROUNDING)
    return (1.0 + s) * pyo.exp(-s)


def _matern_five_halves(squared: Any) -> Any:
    s = pyo.sqrt(5.0 * squared + ROUNDING)
    return (1.0 + s + s**2 / 3.0) * pyo.exp(-s)


def _sum(kernel: KernelData, point: Sequence[Any], centers: list[list[float]], weights: list[float]) -> Any:
    return sum(covariance_expression(part, point, centers, weights) for part in kernel["kernels"])


def _scaled(kernel: KernelData, point: Sequence[Any], centers: list[list[float]], weights: list[float]) -> Any:
    return kernel["factor"] * covariance_expression(kernel["kernel"], point, centers, weights)


def _reaction_kinetics(
    kernel: KernelData, point: Sequence[Any], centers: list[list[float]], weights: list[float]
) -> Any:
    """Rank one: k(x, c) = variance y(x) y(c), so the centres enter through one number."""
    measured = math.fsum(w * reaction_kinetics_feature(kernel, c) for w, c in zip(weights, centers, strict=True))
    return kernel["weight_variance"] * measured * reaction_kinetics_feature(kernel, point)


FORMULAS: dict[str, Callable[..., Any]] = {
    "squared_exponential": _stationary(_squared_exponential),
    "matern_three_halves": _stationary(_matern_three_halves),
    "matern_five_halves": _stationary(_matern_five_halves),
    "sum": _sum,
    "scaled": _scaled,
    "reaction_kinetics": _reaction_kinetics,
}
