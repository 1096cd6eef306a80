"""Searches that were stopped by a forbidden region go on along its edge, where many optima of real plants lie.

An ascent that is refused its step only shortens it: it ends where it met the edge, not at the best place beside it. Rules say
which points they allow and nothing about slopes. But such a search stands where uphill is forbidden, so beside it the edge
is met on lines along the gradient: each round steps aside in some directions, moves along these lines to the last allowed
point (bisection, which evaluates no function), takes the best of these points, and halves the step where none is better.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.projected_ascent import Allowed, Evaluation
from tcbo_pyomo.foundation.arrays import Array, Integers, Mask

DIRECTIONS_PER_DIMENSION = 2
FIRST_STEP, LAST_STEP = 0.05, 1e-6
"""In widths of the box; along an edge the value is flat at its maximum, so the last is small enough."""
REACH = 2.0
"""How far along a line the edge is looked for, in steps to either side: edges steeper than this are left to shorter steps."""
BISECTIONS = 22
AT_ONCE = 3
"""Bisections that are answered by one question."""
ROUNDS = 60
"""At most: from the first step to the last are 16 halvings."""


def search_edge(
    evaluate: Evaluation, points: Array, owner: Integers, lower: Array, upper: Array, allowed: Allowed
) -> tuple[Array, Array]:
    """Allowed points at least as good as those given (n x d), and their values (n); the arguments are those of `climb`."""
    points = points.copy()
    values, slopes = evaluate(points, owner)
    step = np.full(len(points), FIRST_STEP)
    generator = np.random.default_rng(0)  # the same search gives the same answer
    width = upper - lower
    for _ in range(ROUNDS):
        rows = np.flatnonzero(step > LAST_STEP)
        if len(rows) == 0:
            break
        uphill = _unit(slopes[rows] * width)
        aside = _aside(uphill, generator)
        number = aside.shape[1]
        # Everything is in widths of the box from here on; one line for each row and direction.
        origin = ((points[rows] - lower) / width)[:, None, :] + step[rows, None, None] * aside
        lines = (origin.reshape(-1, len(width)), np.repeat(uphill, number, axis=0))
        trial, usable = _last_allowed(*lines, REACH * np.repeat(step[rows], number), lower, width, allowed)
        found = np.full(len(trial), -np.inf)
        gradients = np.zeros_like(trial)
        if usable.any():
            found[usable], gradients[usable] = evaluate(trial[usable], np.repeat(owner[rows], number)[usable])
        best = found.reshape(-1, number).argmax(axis=1) + np.arange(len(rows)) * number
        better = found[best] > values[rows]
        won, chosen = rows[better], best[better]
        points[won], values[won], slopes[won] = trial[chosen], found[chosen], gradients[chosen]
        step[rows[~better]] *= 0.5
    return points, values


def _unit(vectors: Array) -> Array:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.finfo(float).tiny)


def _aside(uphill: Array, generator: np.random.Generator) -> Array:
    """Unit vectors across each gradient, n x m x d, new ones in every call; the first is zero: straight on."""
    dimension = uphill.shape[1]
    random = generator.standard_normal((DIRECTIONS_PER_DIMENSION * dimension, dimension))
    across = _unit(random - (uphill @ random.T)[:, :, None] * uphill[:, None, :])
    return np.concatenate([np.zeros((len(uphill), 1, dimension)), across, -across], axis=1)


def _last_allowed(
    origin: Array, direction: Array, reach: Array, lower: Array, width: Array, allowed: Allowed
) -> tuple[Array, Mask]:
    """The farthest allowed point of each line that begins allowed `reach` behind its origin, and which lines do."""

    def at(along: Array) -> Array:
        return np.asarray(lower + width * np.clip(origin + along[:, None] * direction, 0.0, 1.0))

    near, far = -reach, reach
    usable = allowed(at(near))
    near = np.where(allowed(at(far)), far, near)  # no edge in reach: the whole way
    for first in range(0, BISECTIONS, AT_ONCE):
        levels = min(AT_ONCE, BISECTIONS - first)
        trials = _halvings(near, far, levels)
        ok = allowed(np.vstack([at(trial) for trial in trials])).reshape(len(trials), -1)
        place, every = np.zeros(len(near), dtype=int), np.arange(len(near))
        for _ in range(levels):
            middle, inside = trials[place, every], ok[place, every]
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
            place = 2 * place + np.where(inside, 2, 1)
    return at(near), usable


def _halvings(near: Array, far: Array, levels: int) -> Array:
    """All points (2^levels - 1 x n) that so many bisections of n intervals may ask for, as a tree.

    After entry i comes 2 i + 1 where it is not allowed, and 2 i + 2 where it is. To ask for all at once is faster than one
    bisection after the other: few lines are searched, so the question costs more than the number of its points.
    """
    intervals, middles = [(near, far)], []
    for place in range(2**levels - 1):
        low, high = intervals[place]
        middles.append(0.5 * (low + high))
        intervals += [(low, middles[-1]), (middles[-1], high)]
    return np.array(middles)
