"""The process: what the plant can do (section 2.2 of the paper).

A finite Markov decision process with labelled states in engineering units. Only feasible state-action pairs exist; a
move that is not allowed is absent, never penalised.

Conventions, fixed here for the whole package
---------------------------------------------
- An episode of horizon H makes H moves and H measurements, each at the state ARRIVED at. The state an episode starts in
  is not measured; "end at" refers to the state after the last move.
- With a random transition the information of a pair (x, a) is the expectation over its successors,
  sum_x' P(x'|x, a) Phi(x') Phi(x')^T / sigma^2(x, a, x').
- Steps count from 0; step h is the move made from the state x_h, so a plan made before the first move has steps 0..H-1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.coordinates import Coordinate, point_from_mapping, scaled

if TYPE_CHECKING:
    import scipy.sparse as sparse

NoiseVariance = float | ArrayLike | Callable[[Array, Array], ArrayLike]
"""A number; one value per transition, in the order in which the moves are given; or a function of (points left, points
arrived at), rows in engineering units."""


@dataclass(frozen=True, eq=False)
class Process:
    """States, feasible state-action pairs, transition probabilities and measurement noise.

    Build one with `Process.from_moves`, `Process.from_probabilities` or `grid_process`; this constructor takes arrays.

    Parameters
    ----------
    coordinates
        The d axes of the search space.
    labels
        n distinct texts, one per state.
    states
        n x d points in engineering units.
    actions
        Distinct names of actions.
    pair_state, pair_action
        For each of the P pairs, the index of its state (non-decreasing) and of its action.
    transitions
        P x n sparse matrix, row p holds P(x' | pair p).
    noise_variance
        One positive value per stored transition, in the order of `transitions.data`.
    """

    coordinates: tuple[Coordinate, ...]
    labels: tuple[str, ...]
    states: Array
    actions: tuple[str, ...]
    pair_state: Integers
    pair_action: Integers
    transitions: sparse.csr_matrix
    noise_variance: Array

    def __post_init__(self) -> None:
        from tcbo_pyomo.plant.process_checks import check_process

        check_process(self)

    @classmethod
    def from_moves(
        cls,
        coordinates: Sequence[Coordinate],
        states: Mapping[str, Sequence[float]],
        moves: Iterable[tuple[str, str, str]],
        noise_variance: NoiseVariance,
    ) -> Process:
        """A deterministic process from `(state, action, state arrived at)` triples of labels."""
        probabilities: dict[tuple[str, str], dict[str, float]] = {}
        for state, action, successor in moves:
            if (state, action) in probabilities:
                raise BadInput(f"state '{state}': action '{action}' is declared twice; give each action its own name")
            probabilities[state, action] = {successor: 1.0}
        return cls.from_probabilities(coordinates, states, probabilities, noise_variance)

    @classmethod
    def from_probabilities(
        cls,
        coordinates: Sequence[Coordinate],
        states: Mapping[str, Sequence[float]],
        probabilities: Mapping[tuple[str, str], Mapping[str, float]],
        noise_variance: NoiseVariance,
    ) -> Process:
        """A process from `{(state, action): {successor: probability}}`, all by label."""
        from tcbo_pyomo.plant.labelled_moves import arrays_of

        return cls.from_arrays(coordinates, **arrays_of(states, probabilities, noise_variance, len(coordinates)))

    @classmethod
    def from_arrays(
        cls,
        coordinates: Sequence[Coordinate],
        states: ArrayLike,
        pair_state: ArrayLike,
        pair_action: ArrayLike,
        transitions: sparse.csr_matrix,
        noise_variance: NoiseVariance,
        labels: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
    ) -> Process:
        """A process from arrays (the fast way for large systems); noise may still be a number or a function."""
        import scipy.sparse as sparse

        points = np.atleast_2d(np.asarray(states, dtype=float))
        names = tuple(labels) if labels is not None else tuple(str(i) for i in range(len(points)))
        matrix = sparse.csr_matrix(transitions, dtype=float, copy=True)
        if not callable(noise_variance) and np.ndim(noise_variance) and not matrix.has_canonical_format:
            raise BadInput("noise_variance per transition: call transitions.sum_duplicates() first to sort them")
        matrix.sum_duplicates()
        # Checked as a whole before a noise function sees its points.
        process = cls(
            coordinates=tuple(coordinates),
            labels=names,
            states=points,
            actions=tuple(actions) if actions is not None else names,
            pair_state=np.asarray(pair_state, dtype=np.int64),
            pair_action=np.asarray(pair_action, dtype=np.int64),
            transitions=matrix,
            noise_variance=np.ones(matrix.nnz),
        )
        if callable(noise_variance):
            noise_variance = noise_variance(points[process.pair_state[process.transition_pair]], points[matrix.indices])
        noise = np.asarray(noise_variance, dtype=float)
        return replace(process, noise_variance=np.full(matrix.nnz, float(noise)) if noise.ndim == 0 else noise)

    @property
    def number_of_states(self) -> int:
        """How many states there are."""
        return len(self.labels)

    @property
    def number_of_pairs(self) -> int:
        """How many feasible state-action pairs there are."""
        return len(self.pair_state)

    @cached_property
    def pair_offsets(self) -> Integers:
        """n + 1 offsets: the pairs of state x are pair_offsets[x] .. pair_offsets[x + 1] - 1."""
        return np.searchsorted(self.pair_state, np.arange(self.number_of_states + 1)).astype(np.int64)

    @cached_property
    def deterministic(self) -> bool:
        """Whether every pair has a single successor."""
        return self.transitions.nnz == self.number_of_pairs

    @cached_property
    def successor(self) -> Integers:
        """The successor of each pair of a deterministic process."""
        if not self.deterministic:
            raise BadInput("a random process has no single successor per move; use `transitions`")
        return self.transitions.indices.astype(np.int64)

    @cached_property
    def transition_pair(self) -> Integers:
        """The pair each stored transition belongs to."""
        return np.repeat(np.arange(self.number_of_pairs), np.diff(self.transitions.indptr))

    def with_noise(self, factor: float) -> Process:
        """The same plant with all noise variances times a factor; itself where that is one."""
        return self if factor == 1.0 else replace(self, noise_variance=factor * self.noise_variance)

    @cached_property
    def information_rate(self) -> sparse.csr_matrix:
        """P x n matrix of P(x'|x,a) / sigma^2(x,a,x'): what one visit of a pair teaches about each state."""
        rate = self.transitions.copy()
        rate.data = rate.data / self.noise_variance
        return rate

    @cached_property
    def scaled_states(self) -> Array:
        """n x d states in [-0.5, 0.5]^d."""
        return scaled(self.coordinates, self.states)

    @cached_property
    def _position(self) -> dict[str, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def state_index(self, state: Any) -> int:
        """Index of a state given by label, index, or `{coordinate: value}` in engineering units."""
        if isinstance(state, (int, np.integer)) and not isinstance(state, bool):
            if 0 <= state < self.number_of_states:
                return int(state)
        elif isinstance(state, str) and state in self._position:
            return self._position[state]
        elif isinstance(state, Mapping):
            return self._index_of_point(point_from_mapping(self.coordinates, state))
        raise BadInput(f"unknown state {state!r}; {suggestion(str(state), self.labels[:50])}")

    def _index_of_point(self, point: Array) -> int:
        distance = np.abs(scaled(self.coordinates, point) - self.scaled_states).max(axis=1)
        nearest = int(distance.argmin())
        if distance[nearest] > 1e-6:
            given = ", ".join(f"{c.name}={v:g}" for c, v in zip(self.coordinates, point, strict=True))
            raise BadInput(f"no state at {given}; the nearest is '{self.labels[nearest]}'")
        return nearest

    def pairs_of(self, state: int) -> range:
        """The pairs that start in a state."""
        return range(int(self.pair_offsets[state]), int(self.pair_offsets[state + 1]))

    def successors_of(self, pair: int) -> Integers:
        """The states a pair may lead to."""
        rows = self.transitions.indptr
        return self.transitions.indices[rows[pair] : rows[pair + 1]].astype(np.int64)

    def expected(self, values: Array) -> Array:
        """The expectation of values of the states (n) after each pair (P)."""
        return values[self.successor] if self.deterministic else self.transitions @ values

    def only_successor(self, pair: int) -> int | None:
        """The state a pair leads to; None if that is random."""
        successors = self.successors_of(pair)
        return int(successors[0]) if len(successors) == 1 else None

    def draw_successor(self, pair: int, generator: np.random.Generator) -> int:
        """Draw the state a pair leads to."""
        if (successor := self.only_successor(pair)) is not None:
            return successor
        first, last = self.transitions.indptr[pair : pair + 2]
        return int(generator.choice(self.successors_of(pair), p=self.transitions.data[first:last]))

    def noise_of(self, pair: int, arrived: int) -> float:
        """Noise variance of the measurement made after `pair` led to the state `arrived`."""
        first, last = self.transitions.indptr[pair : pair + 2]
        noise, expected = self.noise_variance[first:last], self.transitions.indices[first:last] == arrived
        # Where the plant ended up elsewhere than the model allows, the worst noise of that move is the careful choice.
        return float(noise[expected][0] if expected.any() else noise.max())

    def describe(self, state: int) -> dict[str, float]:
        """A state as `{coordinate: value}` in engineering units."""
        return {c.name: float(v) for c, v in zip(self.coordinates, self.states[state], strict=True)}

    def pair_name(self, pair: int) -> str:
        """A pair as text, for messages."""
        return f"'{self.labels[self.pair_state[pair]]}' -> '{self.actions[self.pair_action[pair]]}'"
