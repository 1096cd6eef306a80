"""The pairs of candidates that decide the utility, each a smooth convex function of planned information.

The utility is a maximum over all pairs of candidates, U(d) = max_i U_i(d), but near the optimum only a few of them are
largest. With w(x) the planned information about state x (visits / noise variance, linear in d) each is

    U_i(w) = Var[f(z_i) - f(z'_i) | history, w],   dU_i / dw(x) = - Cov[f(z_i) - f(z'_i), f(x) | history, w]^2,

so every tangent, and every convex combination of tangents, is a lower bound of U on all of D.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.planning.finite.utility import Posterior, Utility

Pair = tuple[int, int | None]
"""Two candidate states; None in place of the second for the variance of the first."""
NEAR = 0.7
"""Pairs below this share of the worst are left out of the next mixture: the fewer functions, the faster it is found."""


@dataclass(frozen=True, eq=False)
class Tangents:
    """Values and slopes of the I active pairs at one plan.

    Attributes
    ----------
    information
        Where: information per state (n).
    posterior
        What is known there.
    values
        U_i there (I).
    covariances
        Cov[f(z_i) - f(z'_i), f(x)] there (I x n).
    """

    information: Array
    posterior: Posterior
    values: Array
    covariances: Array

    @cached_property
    def slopes(self) -> Array:
        """dU_i / dw(x) there (I x n); never positive."""
        return -(self.covariances**2)

    def at(self, information: Array) -> Array:
        """The tangents at other plans (n x K): I x K lower bounds of U_i."""
        return self.values[:, None] + self.slopes @ (information - self.information[:, None])


class ActivePairs:
    """Pairs added one at a time, as cutting planes.

    Attributes
    ----------
    pairs
        The pairs found so far.
    """

    def __init__(self, utility: Utility) -> None:
        self.utility = utility
        self.pairs: list[Pair] = []

    def tangents(self, information: Array, posterior: Posterior | None = None) -> Tangents:
        """Value and slope of every active pair; `posterior` where it is known already."""
        first = np.array([pair[0] for pair in self.pairs])
        second = np.array([pair[1] for pair in self.pairs]) if self.utility.differences else None
        posterior = self.utility.posterior(information) if posterior is None else posterior
        covariances = posterior.covariances_with(first, second)
        rows = np.arange(len(first))
        values = covariances[rows, first] - (0.0 if second is None else covariances[rows, second])
        return Tangents(information, posterior, np.maximum(values, 0.0), covariances)

    def keep_near_the_worst(self, values: Array) -> None:
        """Forget pairs whose values are far below the worst; where they matter again they are added again."""
        self.pairs = [pair for pair, value in zip(self.pairs, values, strict=True) if value >= NEAR * values.max()]

    def add_worst(self, posterior: Posterior) -> tuple[float, bool]:
        """The utility of a posterior, and whether its pair is new; it is active from now on."""
        first, second, value = self.utility.worst(posterior)
        new = (first, second) not in self.pairs
        if new:
            self.pairs.append((first, second))
        return value, new
