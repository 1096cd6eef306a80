"""A short round trip through some points: simulated annealing from a greedy tour (Kirkpatrick, Gelatt and Vecchi 1983).

A trial reverses a stretch of the tour, which replaces two of its legs by two others (2-opt). It is accepted when it
shortens the tour, and otherwise with probability exp(-increase / temperature); the temperature falls from a third
of the mean leg to a thousandth of it. The shortest tour met is returned.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.distance import cdist

from tcbo_pyomo.foundation.arrays import Array, Integers

TRIALS_PER_POINT, FEWEST_TRIALS = 400, 5000
HOT, COLD = 1.0 / 3.0, 0.001
"""First and last temperature as shares of the mean leg; a hotter start would forget the greedy tour."""


def tour_from(start: Array, points: Array, generator: np.random.Generator) -> Integers:
    """The order in which a short round trip from `start` (d) visits n points (n x d).

    Of its two directions, the one whose first leg is the shorter.
    """
    distance = cdist(np.vstack([start, points]), np.vstack([start, points]))
    tour = _annealed(_greedy(distance), distance, generator)
    if distance[0, tour[-1]] < distance[0, tour[1]]:
        tour = [tour[0], *tour[:0:-1]]
    return np.array(tour[1:], dtype=np.int64) - 1


def _greedy(distance: Array) -> list[int]:
    """From point 0 always to the nearest point not visited yet."""
    tour, left = [0], list(range(1, len(distance)))
    while left:
        nearest = min(left, key=lambda point: distance[tour[-1], point])
        tour.append(nearest)
        left.remove(nearest)
    return tour


def _annealed(tour: list[int], distance: Array, generator: np.random.Generator) -> list[int]:
    number = len(tour)
    legs = distance.tolist()
    mean_leg = float(distance[tour, tour[1:] + tour[:1]].mean())
    if number < 4 or mean_leg == 0.0:
        return tour  # All round trips through three points are the same.
    trials = max(FEWEST_TRIALS, TRIALS_PER_POINT * number)
    temperature, fall = HOT * mean_leg, (COLD / HOT) ** (1.0 / trials)
    ends = np.sort(generator.integers(1, number, size=(trials, 2)), axis=1).tolist()
    chances = generator.random(trials).tolist()
    best, gained, most_gained = tour, 0.0, 0.0
    for (first, last), chance in zip(ends, chances, strict=True):
        before, after = legs[tour[first - 1]], legs[tour[(last + 1) % number]]
        change = before[tour[last]] + after[tour[first]] - before[tour[first]] - after[tour[last]]
        if change <= 0.0 or chance < math.exp(-change / temperature):
            tour = [*tour[:first], *tour[first : last + 1][::-1], *tour[last + 1 :]]
            gained -= change
            if gained > most_gained + 1e-12:
                best, most_gained = tour, gained
        temperature *= fall
    return best
