"""What each of D simulated campaigns believes, updated one visit at a time for all of them at once.

How a visit shrinks the covariance does not depend on its result: with c = Cov[f, f(x)] and v = Var f(x) + sigma^2,

    Cov <- Cov - g g^T,   g = c / sqrt(v),      when x is visited,
    mean <- mean + g (y - mean(x)) / sqrt(v),   when the result y comes,

so visits whose results are pending shrink the design covariance at once, and their gains g are kept until the results come.
Results come in the order of the visits. The whole covariance is only kept for members that plan with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dger

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.surrogate.goal import Goal


@dataclass(frozen=True)
class ToldCovariance:
    """The covariance before some visits (n x n), and their gains (visits x n): what they leave of it."""

    start: Array
    gains: Array

    def with_state(self, state: int) -> Array:
        """Of one state with all others (n)."""
        return np.asarray(self.start[state] - self.gains[:, state] @ self.gains)

    def between(self, states: Integers) -> Array:
        """Between some states (m x m)."""
        seen = self.gains[:, states]
        return np.asarray(self.start[np.ix_(states, states)] - seen.T @ seen)


class BatchedBeliefs:
    """D Gaussian vectors over n states.

    Parameters
    ----------
    mean, covariance
        What all of them begin with: n, and n x n.
    draws
        D.
    visits
        At most so many will be made.
    rows
        States whose covariances with all others are kept up to date; none by default.

    Attributes
    ----------
    mean, told_variance
        D x n: given the results that have come.
    variance
        D x n: with pending visits counted as made.
    rows, covariance
        R states, and D x R x n: their covariances with all states, with pending visits counted as made.
    """

    def __init__(self, mean: Array, covariance: Array, draws: int, visits: int, rows: Integers | None = None) -> None:
        number = len(mean)
        self.mean = np.tile(mean, (draws, 1))
        self.variance = np.tile(covariance.diagonal(), (draws, 1))
        self.told_variance = self.variance.copy()
        self.rows = np.empty(0, dtype=np.int64) if rows is None else rows
        self.covariance = np.tile(covariance[self.rows], (draws, 1, 1))
        self._start = covariance
        self._gains = np.empty((draws, visits, number))
        self._scales = np.empty((visits, draws))
        self._places = np.empty((visits, draws), dtype=np.int64)
        self._each = np.arange(draws)
        self.made = self.told = 0

    def covariance_with(self, states: Integers) -> Array:
        """Cov[f(x_d), f] of one state x_d for each draw (D x n), with pending visits counted as made."""
        gains = self._gains[:, : self.made]
        seen = np.take_along_axis(gains, states[:, None, None], axis=2)
        return self._start[states] - np.matmul(seen.transpose(0, 2, 1), gains)[:, 0, :]

    def visit(self, states: Integers, noise_variance: Array) -> None:
        """Each campaign visits a state (D); the results come later."""
        shared = self.covariance_with(states)
        scale = np.sqrt(np.maximum(shared[self._each, states], 0.0) + noise_variance)
        gains = shared / scale[:, None]
        self._gains[:, self.made], self._scales[self.made], self._places[self.made] = gains, scale, states
        self.made += 1
        self.variance -= gains * gains
        np.maximum(self.variance, 0.0, out=self.variance)
        if len(self.rows):
            of_rows = gains[:, self.rows]
            for kept, gain, own in zip(self.covariance, gains, of_rows, strict=True):
                dger(-1.0, gain, own, a=kept.T, overwrite_a=1)

    def tell(self, results: Array) -> None:
        """The results (D) of the earliest visit whose results are pending."""
        gains, place = self._gains[:, self.told], self._places[self.told]
        surprise = (results - self.mean[self._each, place]) / self._scales[self.told]
        self.mean += gains * surprise[:, None]
        self.told_variance -= gains * gains
        np.maximum(self.told_variance, 0.0, out=self.told_variance)
        self.told += 1

    def recommended(self, goal: Goal, space: Mask) -> Integers:
        """The state of the search space that each campaign would recommend now (D)."""
        expected = goal.expected(self.mean, np.sqrt(self.told_variance))
        return np.where(space, expected, -np.inf).argmax(axis=1)

    def told_covariance(self, draw: int) -> ToldCovariance:
        """The covariance of one campaign given the results that have come."""
        return ToldCovariance(self._start, self._gains[draw, : self.told])

    @property
    def next_told(self) -> Integers:
        """Where the earliest visit was whose results are pending (D)."""
        return self._places[self.told]
