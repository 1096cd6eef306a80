"""Frank-Wolfe over visitations (section 4): each linearisation is a plan, the mixture of the plans is the policy.

Discrete and continuous systems differ only in `extreme_point`, which minimises a linear function over what the dynamics
allow. With one component the utility is linearised at the history alone, as in the paper's experiments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Plan = Any
"""What the oracle returns: a visitation, or a path."""


class Objective(Protocol):
    """A convex function of plans."""

    def value(self, plan: Plan | None) -> float:
        """The function at a plan; None is the empty plan."""

    def linearise(self, plan: Plan | None) -> Any:
        """The function near a plan."""


def frank_wolfe(
    objective: Objective,
    extreme_point: Callable[[Any], Plan],
    mix: Callable[[list[tuple[float, Plan]]], Plan],
    components: int,
    step_rule: str,
) -> list[tuple[float, Plan]]:
    """Minimise a convex function over a convex set by linear subproblems.

    Parameters
    ----------
    objective
        The function, for example the `Utility`.
    extreme_point
        The linear oracle: the best plan for one linearisation.
    mix
        The convex combination of weighted plans.
    components
        Number of linear subproblems, N.
    step_rule
        "harmonic" 1/(1+n), "diminishing" 2/(2+n), or "line_search"; the first step is always 1.

    Returns
    -------
    list of (weight, plan)
        The mixture; weights are positive and sum to 1.
    """
    mixture: list[tuple[float, Plan]] = []
    for n in range(components):
        here = mix(mixture) if mixture else None
        vertex = extreme_point(objective.linearise(here))

        def value_along(share: float, here: Plan = here, vertex: Plan = vertex) -> float:
            return objective.value(mix([(1.0 - share, here), (share, vertex)]))

        step = 1.0 if here is None else _step(step_rule, n, value_along)
        mixture = [(weight * (1.0 - step), plan) for weight, plan in mixture if step < 1.0]
        if step > 0.0:
            mixture.append((step, vertex))
    return mixture


def _step(rule: str, n: int, value_along: Callable[[float], float]) -> float:
    if rule == "harmonic":
        return 1.0 / (1.0 + n)
    if rule == "diminishing":
        return 2.0 / (2.0 + n)
    from scipy.optimize import minimize_scalar  # Slow to load, and the other rules do without.

    found = minimize_scalar(value_along, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-6})
    ends = {0.0: value_along(0.0), 1.0: value_along(1.0), float(found.x): float(found.fun)}
    return min(ends, key=ends.__getitem__)
