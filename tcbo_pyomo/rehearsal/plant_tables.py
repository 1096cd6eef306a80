"""What simulated campaigns ask of a plant again and again, computed once: its moves as arrays, and the noise after each."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.planning.finite.eager_move import leads_everywhere
from tcbo_pyomo.planning.finite.go_and_stay import per_move, staying_noise
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.rehearsal.batched_induction import BatchedInduction, Costs


class PlantTables:
    """The moves of one problem for D draws at once.

    Parameters
    ----------
    problem
        The plant and its rules.
    noise_variance
        Of the measurement after each stored transition.
    """

    def __init__(self, problem: Problem, noise_variance: Array) -> None:
        self.problem, self.process, self.noise = problem, problem.process, noise_variance
        self.induction = BatchedInduction(problem.sets)
        self.space: Mask = problem.places
        moves = self.process.transitions
        self._informed: Integers = moves.indices.astype(np.int64)
        self._first: Integers = moves.indptr[:-1].astype(np.int64)
        self._chance_sum = np.cumsum(moves.data)

    @cached_property
    def everywhere_next(self) -> Mask:
        """From which states every place of the search space is one allowed move away."""
        if any(rule.couples_steps for rule in self.problem.rules):
            return np.zeros(self.process.number_of_states, dtype=bool)
        return leads_everywhere(self.problem)

    @cached_property
    def _staying_noise(self) -> Array:
        return staying_noise(self.problem, self.noise)

    @cached_property
    def noise_at(self) -> Array | None:
        """Noise variance by the state arrived at (n), where it depends on nothing else; elsewhere None."""
        highest = np.zeros(self.process.number_of_states)
        np.maximum.at(highest, self._informed, self.noise)
        highest[highest == 0.0] = self.noise.max()
        return highest if np.array_equal(highest[self._informed], self.noise) else None

    def moves_from(self, states: Integers, step: int) -> tuple[Integers, Mask]:
        """The pairs of each draw's state (A x D, filled up with P), and which may be used before a step."""
        pairs = self.induction.table[:, states]
        return pairs, self.induction.usable(step)[pairs]

    def expected(self, pairs: Integers, values: Array) -> Array:
        """The expectation of values of the states (D x n) after some pairs of each draw (A x D)."""
        each, known = np.arange(len(values)), np.minimum(pairs, self.process.number_of_pairs - 1)
        if self.process.deterministic:
            return values[each, self.process.successor[known]]
        return np.asarray((self.process.transitions @ values.T)[known, each])

    def next_gains(self, pairs: Integers, worth: Array, variance: Array) -> Array:
        """What the next measurement brings after some pairs of each draw (A x D): E[worth / (variance + noise)]."""
        each, known = np.arange(len(worth)), np.minimum(pairs, self.process.number_of_pairs - 1)
        if self.process.deterministic:
            arrived = self.process.successor[known]
            return worth[each, arrived] / (variance[each, arrived] + self.noise[known])
        return self._by_pair(self._informed, worth, variance)[known, each]

    def gains_per_move(self, pairs: Integers, gains: Array, variance: Array) -> Array:
        """The same per move, by one measurement or by going there and staying, in a deterministic process (A x D)."""
        each, known = np.arange(len(variance)), np.minimum(pairs, self.process.number_of_pairs - 1)
        arrived = self.process.successor[known]
        return per_move(gains, variance[each, arrived], self.noise[known], self._staying_noise[arrived])

    def costs(self, worth: Array, variance: Array | None, departure: bool) -> Costs:
        """What each pair is worth to a plan: E[worth / (variance + noise)], with a sign; worth and variance are D x n.

        Without `variance` it is worth / noise. With `departure` a pair counts where it leaves, the last one where it arrives
        as well.
        """
        if self.noise_at is not None and not departure:
            spread = self.noise_at if variance is None else variance + self.noise_at
            return Costs(np.ascontiguousarray((-worth / spread).T))
        nothing = np.zeros_like(worth) if variance is None else variance
        arrival = self._by_pair(self._informed, worth, nothing)
        if not departure:
            return Costs(None, -arrival, -arrival)
        left = self._by_pair(self.process.pair_state[self.process.transition_pair], worth, nothing)
        return Costs(None, -left, -(left + arrival))

    def _by_pair(self, informed: Integers, worth: Array, variance: Array) -> Array:
        """P x D expectations over the transitions of each pair, of which each informs about one state."""
        each = worth.T[informed] / (variance.T[informed] + self.noise[:, None])
        if self.process.deterministic:
            return each
        return np.add.reduceat(self.process.transitions.data[:, None] * each, self._first, axis=0)

    def arrive(self, pairs: Integers, luck: Array) -> Integers:
        """The stored transition that each draw's pair makes (D), as its luck decides."""
        first = self._first[pairs]
        if self.process.deterministic:
            return first
        before = np.where(first > 0, self._chance_sum[first - 1], 0.0)
        ends = self.process.transitions.indptr[pairs + 1] - 1
        return np.clip(np.searchsorted(self._chance_sum, before + luck, side="right"), first, ends)

    def arrived_at(self, entries: Integers) -> Integers:
        """Where stored transitions lead."""
        return self._informed[entries]


def one_of_the_best(score: Array, usable: Mask, tie: float, generator: np.random.Generator) -> Integers:
    """For each draw the row of the largest usable score (A x D); among those within a share of it, one at random."""
    score = np.where(usable, score, -np.inf)
    best = score.max(axis=0)
    with np.errstate(invalid="ignore"):
        ties = usable & (score >= best - tie * np.abs(best))
    return np.where(ties, generator.random(score.shape), -1.0).argmax(axis=0)
