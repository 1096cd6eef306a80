"""Many local searches in step: projected quasi-Newton ascent of many functions from many points, in whole arrays.

Each row is a search of its own: a point x, an approximation H of the inverse Hessian of -f (BFGS), and a step
length t. A round tries x' = P(x + t H g) for every row, with P the projection on the box and g the gradient without
the components that press against a bound (Bertsekas 1982), in one evaluation of all rows. A row whose value does not
rise enough (Armijo) stays and shortens its step in the next round, so that no row waits for the line search of
another. Rows with no prospect end early: the quadratic model promises a further rise of g^T H g / 2, and where
several times that does not reach what another search of the same function has found, the search is given up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask

Allowed = Callable[[Array], Mask]
"""Which of n points (n x d, scaled) may be returned."""
Evaluation = Callable[[Array, Integers], tuple[Array, Array]]
"""Function `owner[i]` at point i: from points (n x d) and owners (n) to values (n) and gradients (n x d)."""

FIRST_STEP = 0.05
LONGEST_STEP = 0.25
"""In widths of the box; a longer step would jump to another hill."""
SUFFICIENT_RISE = 1e-4
SHORTEST_STEP = 1e-10
"""As a share of the full step; a search that needs a shorter one has met rounding, or the edge of the allowed."""


PATIENCE = 4
"""Rounds before a search may be given up; the first ones teach it the curvature."""
OPTIMISM = 4.0
"""A search is given up when it is behind by more than so many times the rise that its model promises."""


@dataclass
class Climb:
    """Where the searches have arrived.

    Attributes
    ----------
    points, values
        n x d and n.
    prospects
        What each may still reach (n): its value and several times the rise that its model promises.
    converged
        Which of them stand on a maximum (n).
    refused
        Which of them were refused a step because it led where it is not allowed, and stand on no maximum (n).
    """

    points: Array
    values: Array
    prospects: Array
    converged: Mask
    refused: Mask


def climb(
    evaluate: Evaluation,
    starts: Array,
    owner: Integers,
    lower: Array,
    upper: Array,
    rounds: int,
    tolerance: Array,
    allowed: Allowed | None = None,
    first: tuple[Array, Array] | None = None,
) -> Climb:
    """Follow function `owner[i]` uphill from point i within the box.

    Parameters
    ----------
    evaluate
        Values and gradients of the functions.
    starts, owner
        n x d points and the function each of them belongs to.
    lower, upper
        Bounds (d).
    rounds
        Evaluations of each search after the first, at most.
    tolerance
        Search i stops where no component of the projected gradient exceeds entry i.
    allowed
        No search steps where this is False; the starts must be allowed.
    first
        Values and gradients at the starts, if they are known.
    """
    number = len(starts)
    unmet = np.zeros(number, dtype=bool)
    arrived = Climb(starts.copy(), np.empty(number), np.full(number, np.inf), unmet, unmet.copy())
    best = np.full(owner.max(initial=0) + 1, -np.inf)
    searches = _Searches(starts, *(first or evaluate(starts, owner)))
    for turn in range(rounds):
        free = ~_pressed(searches.points, searches.gradients, lower, upper)
        flat = (np.abs(searches.gradients) * free).max(axis=1) <= tolerance[searches.row]
        newton = searches.newton_step(free, lower, upper)
        searches.prospects = searches.values + 0.5 * OPTIMISM * np.einsum("ni,ni->n", newton, searches.gradients)
        searches.prospects[searches.fresh] = np.inf
        arrived.converged[searches.row[flat]] = True
        searches.refused &= ~flat
        searches.report(arrived)
        np.maximum.at(best, owner[searches.row], searches.values)
        going = ~flat & (searches.step > SHORTEST_STEP)
        if turn >= PATIENCE:
            going &= searches.prospects >= best[owner[searches.row]]
        if not going.any():
            return arrived
        searches, free, newton = searches.only(going), free[going], newton[going]
        step = searches.step[:, None] * searches.bounded(newton, free, upper - lower)
        trial = np.clip(searches.points + step, lower, upper)
        values, gradients = evaluate(trial, owner[searches.row])
        if allowed is not None:
            values = np.where(allowed(trial), values, -np.inf)
            searches.refused |= ~np.isfinite(values)
        searches.advance(trial, values, gradients, free)
    searches.report(arrived)
    return arrived


def _pressed(points: Array, slopes: Array, lower: Array, upper: Array) -> Mask:
    """Components at a bound that an ascent along `slopes` would push beyond it."""
    return ((points <= lower) & (slopes < 0)) | ((points >= upper) & (slopes > 0))


class _Searches:
    """The state of the searches still under way; `row` is their place among all of them."""

    def __init__(self, points: Array, values: Array, gradients: Array) -> None:
        number, dimension = points.shape
        self.row = np.arange(number)
        self.points, self.values, self.gradients = points, values, gradients
        self.inverse = np.broadcast_to(np.eye(dimension), (number, dimension, dimension))
        self.fresh = np.ones(number, dtype=bool)
        self.step = np.ones(number)
        self.prospects = np.full(number, np.inf)
        self.refused = np.zeros(number, dtype=bool)

    def only(self, kept: Mask) -> _Searches:
        """Those in `kept`."""
        if not kept.all():
            self.__dict__.update({name: array[kept] for name, array in self.__dict__.items()})
        return self

    def report(self, arrived: Climb) -> None:
        """Write down where the searches are."""
        arrived.points[self.row], arrived.values[self.row] = self.points, self.values
        arrived.prospects[self.row], arrived.refused[self.row] = self.prospects, self.refused

    def newton_step(self, free: Mask, lower: Array, upper: Array) -> Array:
        """H g over the free components."""
        slopes = self.gradients * free
        newton = np.einsum("nij,nj->ni", self.inverse, slopes)
        # Where H turns a component against its bound, the rest of H g need not lead uphill: leave it out.
        inward = free & ~_pressed(self.points, newton, lower, upper)
        return np.einsum("nij,nj->ni", self.inverse, slopes * inward) * inward

    def bounded(self, newton: Array, free: Mask, width: Array) -> Array:
        """The full step: H g, not too long; in a search that knows no curvature yet, g with a fixed length."""
        fresh = self.fresh[:, None]
        step = np.where(fresh, self.gradients * free * width**2, newton)
        length = np.linalg.norm(step / width, axis=1, keepdims=True)
        wanted = np.where(fresh, FIRST_STEP, np.minimum(length, LONGEST_STEP))
        return step * (wanted / np.maximum(length, np.finfo(float).tiny))

    def advance(self, trial: Array, values: Array, gradients: Array, free: Mask) -> None:
        """Take the steps that rise enough, shorten the others, and learn the curvature."""
        move = trial - self.points
        expected = np.einsum("ni,ni->n", self.gradients, move)
        rise = values - self.values
        rose = (rise >= SUFFICIENT_RISE * expected) & (rise > 0)
        bend = (self.gradients - gradients) * free
        product = np.einsum("ni,ni->n", move, bend)
        square = np.einsum("ni,ni->n", bend, bend)
        concave = rose & (product > 1e-10 * np.sqrt(square * np.einsum("ni,ni->n", move, move)))
        self._learn(concave, move, bend, product, square)
        # A parabola through the value, the slope and the failed value tells how much shorter a step should be.
        with np.errstate(divide="ignore", invalid="ignore"):
            parabola = 0.5 * expected / (expected - rise)
        shorter = np.where(np.isfinite(rise) & (expected > 0), np.clip(parabola, 0.1, 0.5), 0.5)
        longer = np.where(concave, 1.0, np.minimum(2.0 * self.step, LONGEST_STEP / FIRST_STEP))
        self.step = np.where(rose, longer, self.step * shorter)
        self.points = np.where(rose[:, None], trial, self.points)
        self.gradients = np.where(rose[:, None], gradients, self.gradients)
        self.values = np.where(rose, values, self.values)

    def _learn(self, chosen: Mask, move: Array, bend: Array, product: Array, square: Array) -> None:
        """The BFGS update of the inverse Hessian of the chosen searches."""
        s, y, rate = move[chosen], bend[chosen], 1.0 / product[chosen]
        scale = np.where(self.fresh[chosen], product[chosen] / square[chosen], 1.0)
        inverse = self.inverse[chosen] * scale[:, None, None]
        image = np.einsum("nij,nj->ni", inverse, y)
        weight = rate * (1.0 + rate * np.einsum("ni,ni->n", y, image))
        cross = (rate[:, None] * image)[:, :, None] * s[:, None, :]
        inverse += weight[:, None, None] * s[:, :, None] * s[:, None, :] - cross - cross.transpose(0, 2, 1)
        self.inverse = self.inverse.copy()
        self.inverse[chosen] = inverse
        self.fresh = self.fresh & ~chosen
