"""The fully-corrective step: the best mixture of all visitations found so far, for the active pairs.

    minimise  max_i U_i(sum_k alpha_k w_k)   over   alpha >= 0,  sum alpha = 1

A smooth convex problem in a few dozen weights once the maximum is written as a bound t >= U_i; solved by sequential
quadratic programming from the last mixture. Whatever the solver says, the better of its answer and the start is used.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from tcbo_pyomo.coordinates import Array
from tcbo_pyomo.planning.active_pairs import ActivePairs, Tangents

ITERATIONS = 60
NEGLIGIBLE = 1e-6
"""Smaller shares of the mixture are rounding of the solver."""


def best_weights(active: ActivePairs, information: Array, start: Array, tolerance: float) -> Array:
    """Mixture weights (K) of the columns of `information` (n x K), improved from `start` to a relative tolerance."""
    if len(start) == 1:
        return start
    at_start = active.tangents(information @ start)
    scale = float(at_start.values.max())
    if not scale > 0.0:
        return start
    known: dict[bytes, Tangents] = {start.tobytes(): at_start}

    def tangents(variables: Array) -> Tangents:
        weights = np.maximum(variables[:-1], 0.0)
        key = weights.tobytes()
        if key not in known:
            known.clear()
            known[key] = active.tangents(information @ weights)
        return known[key]

    def room(variables: Array) -> Array:
        return variables[-1] - tangents(variables).values / scale

    def room_slope(variables: Array) -> Array:
        slopes = tangents(variables).slopes @ information / scale
        return np.hstack([-slopes, np.ones((len(slopes), 1))])

    direction = np.append(np.zeros(len(start)), 1.0)
    simplex = np.append(np.ones(len(start)), 0.0)
    answer = minimize(
        lambda variables: variables[-1],
        np.append(start, 1.0),
        jac=lambda _: direction,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(start) + [(0.0, 2.0)],
        constraints=[
            {"type": "ineq", "fun": room, "jac": room_slope},
            {"type": "eq", "fun": lambda variables: simplex @ variables - 1.0, "jac": lambda _: simplex},
        ],
        options={"ftol": tolerance, "maxiter": ITERATIONS},
    )
    weights = np.where(answer.x[:-1] > NEGLIGIBLE, answer.x[:-1], 0.0)
    if not (np.isfinite(weights).all() and weights.sum() > 0.0):
        return start
    weights = weights / weights.sum()
    return weights if active.tangents(information @ weights).values.max() < scale else start
