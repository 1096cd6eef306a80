"""Candidates before the first measurement: points drawn uniformly from the box."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.candidates.search.reachable_space import ReachableSpace
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array

TRIES = 1000
"""Draws of `count` points before forbidden regions are taken to fill the box."""


def uniform_points(count: int, dimension: int, generator: np.random.Generator, allowed: Allowed | None = None) -> Array:
    """`count` points of [-0.5, 0.5]^d, count x d, all of them allowed; of a set of reachable points, some of these."""
    if isinstance(allowed, ReachableSpace):
        return allowed.draw(count, generator)
    points = np.empty((0, dimension))
    for _ in range(TRIES):
        drawn = generator.random((count, dimension)) - 0.5
        points = np.vstack([points, drawn if allowed is None else drawn[allowed(drawn)]])
        if len(points) >= count:
            return points[:count]
    raise BadInput(f"{TRIES * count} points drawn from the box, {len(points)} allowed; check the forbidden regions")
