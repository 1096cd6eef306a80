"""What planned moves teach about each state: where a pair arrives (our default), or where it leaves (the paper's V).

- "arrival": a pair (x, a) informs about where it arrives, x' with rate P(x'|x, a) / sigma^2(x, a, x'). This is what a plant
  does (Algorithm 1's y_{h+1}).
- "departure": it informs about the state x that it leaves, with rate sum_x' P(x'|x, a) / sigma^2(x, a, x'), as in
  V = sum d(x, a) Phi(x) Phi(x)^T / sigma^2(x, a) (sections 2.2 and 5.3). The last move of an episode informs about where it
  arrives as well: no later move leaves that state, and a plan would have no reason to end anywhere.

The moves that were made count by the same convention (`knowledge/credited_visits.py`), so that an episode from x_0 to x_H adds
x_1 .. x_H with arrival and x_0 .. x_H with departure, made or planned. A plan from x_k is then ranked at a history without x_k.
On a deterministic plant with one noise variance that is the only difference. Where noise depends on the move, a precise
move (staying) is credited to the state it begins in, and one that arrives by a jump to the state it left: a place that was
measured poorly still looks unknown, and the next plan stays there.

The weights of history and plan (section 4.1): a visit that is planned counts as much as one that was made. That is the
paper's 1 / (T H) for all with T := t + 1, the episodes so far and the present one; a common factor changes no plan.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.plant.process import Process

if TYPE_CHECKING:
    import scipy.sparse as sparse

Convention = Literal["arrival", "departure"]


class MoveInformation:
    """The linear map from expected visits to information per state, and its transpose.

    Visits and gradients have P values; with "departure" 2 x P, as in `step_gradient`.

    Parameters
    ----------
    process
        The plant.
    horizon
        Moves of an episode; only "departure" asks for the last one.
    convention
        "arrival" or "departure".
    passes
        P x n: how often each pair measures each state on its way, with the noise of the pair; by both conventions such a
        measurement informs about the state that is passed. None where pairs measure where they arrive only.
    """

    def __init__(
        self,
        process: Process,
        horizon: int = 0,
        convention: Convention = "arrival",
        passes: sparse.csr_matrix | None = None,
    ) -> None:
        self.process, self.horizon, self.convention, self.passes = process, horizon, convention, passes
        self._departs = convention == "departure"

    @cached_property
    def rate(self) -> sparse.csr_matrix:
        """P x n (2P x n with "departure"): what one visit of a pair teaches about each state."""
        arrival = self.process.information_rate
        total = np.asarray(arrival.sum(axis=1)).ravel()
        passed = None if self.passes is None else self.passes.multiply(total[:, None])
        if not self._departs:
            return arrival if passed is None else (arrival + passed).tocsr()
        import scipy.sparse as sparse  # Slow to load, and the default does without.

        pairs = np.arange(self.process.number_of_pairs)
        departure = sparse.csr_matrix((total, (pairs, self.process.pair_state)), shape=arrival.shape)
        if passed is not None:
            departure = departure + passed
        return sparse.vstack([departure, departure + arrival], format="csr")

    def visits(self, visitation: Visitation) -> Array:
        """Expected number of visits of each pair, the last moves of the episode on their own with "departure"."""
        number = self.process.number_of_pairs
        if not self._departs:
            return visitation.expected_counts(number)
        place = visitation.pair + number * (visitation.step == self.horizon - 1)
        return np.bincount(place, visitation.probability, minlength=2 * number).astype(float).reshape(2, number)

    def about_states(self, visits: Array) -> Array:
        """What visits teach about each state (n): expected visits / noise variance."""
        return np.asarray(self.rate.T @ visits.ravel())

    def planned(self, visitation: Visitation | None) -> Array | None:
        """What a visitation teaches about each state (n); None for no visits."""
        return None if visitation is None else self.about_states(self.visits(visitation))

    def gradient(self, slope: Array) -> Array:
        """The slope in visits of a function whose slope in information per state is given (n)."""
        return self._shaped(self.rate @ slope)

    def gains(self, worth: Array, variance: Array) -> Array:
        """The same for one whole measurement: worth / (variance + noise variance) of the states that a pair informs about."""
        arrival = self.arrival_gains(worth, variance)
        if not self._departs:
            return arrival
        departure = self._gains(self.process.pair_state[self.process.transition_pair], worth, variance)
        ends = self._gains(self.process.transitions.indices, worth, variance)
        on_the_way = arrival - ends
        return np.stack([departure + on_the_way, departure + arrival])

    def arrival_gains(self, worth: Array, variance: Array) -> Array:
        """What the next measurement brings after each pair (P), whatever plans count: it is made where the pair arrives."""
        arrival = self._gains(self.process.transitions.indices, worth, variance)
        return arrival if self.passes is None else arrival + self._passing_gains(self.passes, worth, variance)

    def _passing_gains(self, passes: sparse.csr_matrix, worth: Array, variance: Array) -> Array:
        """What measurements on the way bring (P), each by itself."""
        noise = 1.0 / np.asarray(self.process.information_rate.sum(axis=1)).ravel()
        of_each = passes.tocoo()
        gained = of_each.data * worth[of_each.col] / (variance[of_each.col] + noise[of_each.row])
        return np.bincount(of_each.row, gained, minlength=passes.shape[0]).astype(float)

    def _gains(self, informed: Integers, worth: Array, variance: Array) -> Array:
        """The expectation over the transitions of each pair, of which each informs about one state."""
        moves, noise = self.process.transitions, self.process.noise_variance
        gain = worth[informed] / (variance[informed] + noise)
        return gain if self.process.deterministic else np.add.reduceat(moves.data * gain, moves.indptr[:-1])

    def _shaped(self, values: Array) -> Array:
        return values.reshape(2, -1) if self._departs else values
