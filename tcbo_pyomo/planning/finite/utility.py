"""The utility U (section 3.1): how badly the two least distinguishable candidates can be told apart.

    U(d) = max over z, z' in Z of  Var[f(z) - f(z') | history and planned visits d]      ("differences", XY-allocation)
    U(d) = max over z in Z of      Var[f(z) | history and planned visits d]              ("g_allocation")

Planned visits count as fractional measurements: V(d) = I + sum of Phi Phi^T / sigma^2 over the history + the expectation
of the same over d. By Danskin's theorem the gradient at a pair (x, a) is that of the maximising pair of candidates
(appendix, "Linearizing the objective"):

    dU / d d(x, a) = - sum_x' P(x'|x, a) / sigma^2(x, a, x') (Cov[f(z), f(x')] - Cov[f(z'), f(x')])^2

Which states a pair informs about, where it arrives (as above) or where it leaves, is the matter of `move_information`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.farthest_pair import TIE
from tcbo_pyomo.planning.finite.move_information import MoveInformation
from tcbo_pyomo.planning.ties import one_of_the_largest
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal


class Posterior(Protocol):
    """Covariance of f over the states, given the history and some planned visits."""

    def farthest(self, candidates: Integers, generator: np.random.Generator) -> tuple[int, int, float]:
        """The two candidate states with the largest variance of their difference, and that variance."""

    def covariance_with(self, first: int, second: int | None) -> Array:
        """Cov[f(first) - f(second), f(x)] for every state x (n); without `second` Cov[f(first), f(x)]."""

    def covariances_with(self, first: Integers, second: Integers | None) -> Array:
        """`covariance_with` for many pairs at once, one row each (pairs x n)."""

    def covariances_of(self, states: Integers) -> Array:
        """Covariance of some states with every state, one row each (states x n)."""

    @property
    def variance(self) -> Array:
        """Variance of every state (n)."""

    def covariance_of(self, states: Integers) -> Array:
        """Covariance between some states."""

    def variance_of(self, states: Integers) -> Array:
        """Variance of each of some states."""


@dataclass(frozen=True)
class Linearisation:
    """The utility near one visitation.

    Attributes
    ----------
    value
        The utility there.
    first, second
        The pair of states being separated; `second` is None for a single state.
    gradient
        P values, one per state-action pair, or 2 x P (see `step_gradient`); never positive, since a visit never makes us know
        less.
    covariance, posterior
        Covariance of every state with the pair (n), and of the states with each other; None for a reward of another kind.
    mean
        Posterior mean of every state (n), where it is known.
    noise_factor
        What was learned about the noise: a factor on the variances of the plant's process.
    gains
        What the next measurement is worth after each pair (P), where the utility says so itself.
    goal
        Which values are better.
    """

    value: float
    first: int
    second: int | None
    gradient: Array
    covariance: Array | None = None
    posterior: Posterior | None = None
    mean: Array | None = None
    noise_factor: float = 1.0
    gains: Array | None = None
    goal: Goal = MAXIMISE


class Utility:
    """U as a function of planned visits, with its gradient on state-action pairs.

    Parameters
    ----------
    process
        The plant with the noise that is believed; its information rates say what one visit of a pair teaches.
    posterior
        Function from information per state (n values, sum of visits / noise variance; None for no planned visits) to a
        `Posterior`. See `posteriors.py` for the two equal forms.
    candidates
        Indices of the states in Z. With a single candidate left there is no pair to separate, and its own variance is
        used instead, so that the remaining budget confirms it.
    objective
        "differences" or "g_allocation".
    generator
        Breaks ties between equally uncertain pairs.
    mean
        Posterior mean of every state (n); U does not depend on it, but a tangent hands it on.
    noise_factor
        How much noisier `process` is than the plant was declared to be; a tangent hands it on.
    information
        What planned moves teach about each state; about where they arrive when not given.
    goal
        Which values are better; U does not depend on it, but a tangent hands it on.
    """

    def __init__(
        self,
        process: Process,
        posterior: Callable[[Array | None], Posterior],
        candidates: Integers,
        objective: str,
        generator: np.random.Generator,
        mean: Array | None = None,
        noise_factor: float = 1.0,
        information: MoveInformation | None = None,
        goal: Goal = MAXIMISE,
    ) -> None:
        self.goal = goal
        self.process, self.posterior, self.candidates, self.mean = process, posterior, candidates, mean
        self.noise_factor = noise_factor
        self.differences = objective == "differences" and len(candidates) > 1
        self.generator = generator
        self.information = information or MoveInformation(process)

    @timed("utility")
    def value(self, visitation: Visitation | None = None) -> float:
        """U at a visitation; None for the history alone."""
        return self.worst(self.posterior(self.information.planned(visitation)))[2]

    @timed("utility")
    def linearise(self, visitation: Visitation | None = None) -> Linearisation:
        """U and its gradient at a visitation; None for the history alone."""
        posterior = self.posterior(self.information.planned(visitation))
        first, second, value = self.worst(posterior)
        covariance = posterior.covariance_with(first, second)
        gradient = -self.information.gradient(covariance * covariance)
        known = covariance, posterior, self.mean, self.noise_factor
        return Linearisation(value, first, second, gradient, *known, goal=self.goal)

    def worst(self, posterior: Posterior) -> tuple[int, int | None, float]:
        """The candidates that a posterior tells apart least (or knows least), and that variance."""
        if self.differences:
            return posterior.farthest(self.candidates, self.generator)
        variance = posterior.variance_of(self.candidates)
        position = one_of_the_largest(variance, TIE, self.generator)
        return int(self.candidates[position]), None, float(variance[position])
