"""What lies below the paths of a campaign on paper: the states there are, the true function and its best places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, physical
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal

CELLS = 101
AS_GOOD = 0.005
"""A peak so close to the maximum, as a share of the range, is one of several maxima; the grid resolves no more."""


@dataclass(frozen=True)
class Landscape:
    """Places with their true values.

    Attributes
    ----------
    places
        n x d in engineering units: all states, or the cells of a grid.
    only_places
        Whether the plant can be nowhere else.
    truth
        The true value of each place; NaN where a rule forbids to be, None where it is not known.
    maxima
        k x d places of the best true value.
    """

    places: Array
    only_places: bool
    truth: Array | None
    maxima: Array


def grid_landscape(
    coordinates: Sequence[Coordinate],
    truth: Callable[[Array], Array] | None,
    allowed: Callable[[Array], Mask],
    goal: Goal = MAXIMISE,
) -> Landscape:
    """A grid over a continuous plane, its best places to the nearest cell; empty with other than two coordinates."""
    from scipy.ndimage import maximum_filter

    nothing = np.empty((0, len(coordinates)))
    if truth is None or len(coordinates) != 2:
        return Landscape(nothing, False, None, nothing)
    line = np.linspace(-0.5, 0.5, CELLS)
    points = np.column_stack([axis.ravel() for axis in np.meshgrid(line, line)])
    places = physical(coordinates, points)
    values = np.where(allowed(points), truth(places), np.nan)
    low = np.where(np.isnan(values), -np.inf, goal.score(values)).reshape(CELLS, CELLS)
    best = low.max() - AS_GOOD * (np.nanmax(values) - np.nanmin(values))
    peaks = (low == maximum_filter(low, size=7)) & (low >= best)
    return Landscape(places, False, values, places[peaks.ravel()])
