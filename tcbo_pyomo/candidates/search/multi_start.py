"""Global maxima of many functions at once (appendix "Approximating the set of maximizers using Batch BayesOpt").

All starts of all functions climb together with rough evaluations; the best few of each function climb on with
exact ones, and a search that has not settled by then is finished by L-BFGS-B. Where points are forbidden, the best few that
were stopped by it can be followed along its edge.
"""

from __future__ import annotations

import logging

import numpy as np

from tcbo_pyomo.candidates.search.boundary_search import search_edge
from tcbo_pyomo.candidates.search.projected_ascent import Allowed, Climb, climb
from tcbo_pyomo.candidates.search.reachable_space import Maxima, ReachableSpace
from tcbo_pyomo.candidates.search.start_points import Functions, survey_starts
from tcbo_pyomo.foundation.arrays import Array, Integers, Mask

ROUGH_ROUNDS, FINE_ROUNDS = 12, 60
ROUGH_TOLERANCE, FINE_TOLERANCE = 1e-3, 1e-5
"""Largest slope at a maximum: a share of the spread of a function's values over its starts, per width of the box."""
FINALISTS = 3
"""Of each function; as many again of the searches that a forbidden region has stopped."""
CLOSE = 1e-3
"""How far behind the best a finalist's prospects may be, as a share of the same spread."""

logger = logging.getLogger(__name__)


def global_maxima(
    functions: Functions,
    dimension: int,
    allowed: Allowed | None = None,
    extra: Array | None = None,
    along_edges: bool = False,
) -> Maxima:
    """The global maximum of each function on [-0.5, 0.5]^d; see `survey_starts` and `maximise_many` for the arguments.

    Where `allowed` is a set of reachable points, every maximum is one of them.
    """
    if isinstance(allowed, ReachableSpace):
        return allowed.maxima(functions, extra, along_edges)
    half = np.full(dimension, 0.5)
    starts = survey_starts(functions, dimension, allowed, extra)
    return maximise_many(functions, -half, half, starts, allowed, along_edges)


def maximise_many(
    functions: Functions,
    lower: Array,
    upper: Array,
    starts: Array,
    allowed: Allowed | None = None,
    along_edges: bool = False,
) -> Maxima:
    """The best local maximum of each function in a box, from starts of its own.

    Parameters
    ----------
    functions
        K functions with gradients.
    lower, upper
        Bounds (d).
    starts
        K x S x d points.
    allowed
        Points where this is False are never returned; the starts must be allowed.
    along_edges
        Whether searches stopped by what is not allowed go on along its edge: for the few maxima that have to be exact.
    """
    count, number, dimension = starts.shape
    points, owner = starts.reshape(-1, dimension), np.repeat(np.arange(count), number)
    rough, box = functions.rough(), (lower, upper)
    first = rough.value_and_gradient(points, owner)
    spread = _spread(first[0].reshape(count, number))
    slope = spread / (upper - lower).max()
    tolerance = ROUGH_TOLERANCE * slope[owner]
    ahead = climb(rough.value_and_gradient, points, owner, *box, ROUGH_ROUNDS, tolerance, allowed, first)

    resolution = 1e-3 * (upper - lower)
    rows = _finalists(ahead, spread, resolution)
    if along_edges and ahead.refused.any():
        rows = np.union1d(rows, _finalists(ahead, spread, resolution, ahead.refused))
    points, owner = ahead.points[rows], owner[rows]
    tolerance = FINE_TOLERANCE * slope[owner]
    fine = climb(functions.value_and_gradient, points, owner, *box, FINE_ROUNDS, tolerance, allowed)
    if along_edges and allowed is not None and fine.refused.any():
        stopped = np.flatnonzero(fine.refused)
        fine.points[stopped], fine.values[stopped] = search_edge(
            functions.value_and_gradient, fine.points[stopped], owner[stopped], *box, allowed
        )
    order = np.lexsort((fine.values, owner))
    best = order[np.searchsorted(owner[order], np.arange(count), side="right") - 1]
    found = Maxima(fine.points[best], fine.values[best])
    if allowed is None:
        for function in np.flatnonzero(~fine.converged[best]):
            _finish(functions, int(function), found, lower, upper)
    return found


def _spread(values: Array) -> Array:
    """Range of each row, the scale of a function; where it is nothing but rounding, the size of the rounding."""
    return np.maximum(np.ptp(values, axis=1), 1e-12 * np.maximum(np.abs(values).max(axis=1), 1.0))


def _finalists(ahead: Climb, spread: Array, resolution: Array, among: Mask | None = None) -> Integers:
    """Rows of the best few different points of each function, or of those `among` them, that may turn out to be its maximum."""
    count = len(spread)
    values = ahead.values.reshape(count, -1).copy()
    points = ahead.points.reshape(count, values.shape[1], -1)
    bar = values.max(axis=1) - CLOSE * spread
    # Prospects are as old as the last round, so the best search of all may have outgrown its own.
    prospects = np.maximum(ahead.prospects.reshape(values.shape), values)
    values[prospects < bar[:, None]] = -np.inf
    if among is not None:
        values[~among.reshape(values.shape)] = -np.inf
    every = np.arange(count)
    chosen = []
    for _ in range(min(FINALISTS, values.shape[1])):
        best = values.argmax(axis=1)
        left = np.isfinite(values[every, best])
        chosen.append((best + every * values.shape[1])[left])
        # Searches that ended on the same hill as a finalist have nothing to add.
        same = (np.abs(points - points[every, best][:, None, :]) <= resolution).all(axis=2)
        values[same] = -np.inf
    return np.concatenate(chosen)


def _finish(functions: Functions, function: int, found: Maxima, lower: Array, upper: Array) -> None:
    """Refine one maximum with L-BFGS-B, and keep the result if it is better."""
    from scipy.optimize import minimize  # Slow to load, and most searches settle without.

    owner = np.array([function])

    def loss(point: Array) -> tuple[float, Array]:
        value, gradient = functions.value_and_gradient(point[None, :], owner)
        return -float(value[0]), -gradient[0]

    bounds = list(zip(lower, upper, strict=True))
    result = minimize(loss, found.points[function], jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-14)
    logger.debug("function %d refined by L-BFGS-B: %.3g higher", function, -result.fun - found.values[function])
    if -result.fun > found.values[function]:
        found.points[function], found.values[function] = np.clip(result.x, lower, upper), -result.fun
