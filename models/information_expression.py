"""The linearised utility as an explicit Pyomo expression (appendix "Linearizing the objective").

    - sum_h s(x_h)^2 / sigma^2,   s(x) = sum_j w_j k(x, c_j)

Any nonlinear solver that Pyomo can name may minimise it. The formula of s comes from the kernel (`Kernel.expression`). The
compiled route has the same sum in closed form and is far faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyomo.environ as pyo

from tcbo_pyomo.models.components import add_component


def information_expression(
    model: pyo.ConcreteModel,
    covariance: Callable[[Sequence[Any]], Any],
    noise_variance: float,
    steps: Sequence[int],
) -> Any:
    """The linearised utility over the points of a trajectory model.

    Parameters
    ----------
    model
        The model of `build_trajectory`; gets Expression covariance[step] = s(x_step), and covariance_between[step, moment]
        where it is measured within the step that ends there.
    covariance
        s as an expression, from the scaled inputs of the black box at a point.
    noise_variance
        sigma^2.
    steps
        The points of the path that count.
    """

    def covariance_rule(_: Any, step: int) -> Any:
        return covariance([model.state[step, name] for name in model.INPUTS])

    def between_rule(_: Any, step: int, moment: int) -> Any:
        return covariance([model.between[step - 1, moment, name] for name in model.INPUTS])

    covariances = add_component(model, "covariance", pyo.Expression(list(steps), rule=covariance_rule))
    total = sum(covariances[step] ** 2 for step in steps)
    if hasattr(model, "between"):
        within = pyo.Expression(list(steps), model.MOMENTS, rule=between_rule)
        total += sum(term**2 for term in add_component(model, "covariance_between", within).values())
    return -total / noise_variance
