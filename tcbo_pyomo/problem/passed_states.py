"""Measurements while a finite plant moves: which states a move passes and measures before it arrives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.foundation.packed_arrays import packed
from tcbo_pyomo.plant.measured_moments import Way, checked_moments, refuse_named_moment
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.protocol import ProblemProtocol

if TYPE_CHECKING:
    import scipy.sparse as sparse


class PassedStates(ProblemProtocol):
    """What a `Problem` knows about the states that its moves pass."""

    process: Process
    on_the_way: Mapping[tuple[str, str], Sequence[Any]] | None

    @cached_property
    def passed(self) -> dict[int, tuple[int, ...]]:
        """The states that each pair passes before it arrives, in order; pairs that pass none are left out."""
        if not self.on_the_way:
            return {}
        refuse_named_moment([c.name for c in self.process.coordinates])
        found: dict[int, tuple[int, ...]] = {}
        origins = [self.process.labels[state] for state in self.process.pair_state]
        actions = [self.process.actions[action] for action in self.process.pair_action]
        pairs = {move: pair for pair, move in enumerate(zip(origins, actions, strict=True))}
        for move, states in self.on_the_way.items():
            if move not in pairs:
                known = [f"{state}, {action}" for state, action in pairs][:50]
                named = ", ".join(map(str, move)) if isinstance(move, tuple) else str(move)
                raise BadInput(f"problem '{self.name}': on_the_way: no move {move!r}; {suggestion(named, known)}")
            if isinstance(states, str) or not isinstance(states, Sequence):
                raise BadInput(f"problem '{self.name}': on_the_way: {move!r} passes {states!r}; give a list of states")
            try:
                passes = tuple(self.process.state_index(state) for state in states)
            except BadInput as error:
                raise BadInput(f"problem '{self.name}': on_the_way: {move!r}: {error}") from None
            found |= {pairs[move]: passes} if passes else {}
        return found

    @cached_property
    def passes(self) -> sparse.csr_matrix | None:
        """P x n: how often each pair measures each state on its way; None where no pair does."""
        if not self.passed:
            return None
        import scipy.sparse as sparse  # Slow to load, and few plants need it.

        entries = [(pair, state) for pair, states in self.passed.items() for state in states]
        rows, columns = zip(*entries, strict=True)
        shape = self.process.number_of_pairs, self.process.number_of_states
        return sparse.csr_matrix((np.ones(len(entries)), (rows, columns)), shape=shape)

    @cached_property
    def moments(self) -> tuple[float, ...]:
        """As many as the move with most measurements has; the last is its end."""
        return checked_moments(1 + max(map(len, self.passed.values()), default=0))

    def way(self, origin: int, pair: int) -> Way:
        """The states that a move passes, evenly spread over it."""
        states = self.passed.get(pair, ())
        return tuple(((count + 1) / (len(states) + 1), state) for count, state in enumerate(states))

    def place_at(self, move_of: Way, ends: tuple[Any, Any, Any], share: float) -> Any:
        """Which of the states of a move was measured at a moment: the one that it is nearest to."""
        places = [*move_of, (1.0, ends[2])]
        if share < 1.0 and not move_of:
            raise BadInput(f"problem '{self.name}': this move passes no state; give one value, where it arrived")
        return min(places, key=lambda place: abs(place[0] - share))[1]

    def passed_data(self) -> dict[str, Any]:
        """The states passed, as plain data; empty where there are none."""
        if not self.passed:
            return {}
        counts = np.array([len(states) for states in self.passed.values()])
        states: Integers = np.array([state for states in self.passed.values() for state in states])
        return {"passed": {"pairs": packed(np.array(list(self.passed))), "counts": packed(counts), "states": packed(states)}}


def stored_passed(data: Mapping[str, Any], unpacked: Any) -> dict[int, tuple[int, ...]]:
    """What `passed_data` described."""
    if "passed" not in data:
        return {}
    pairs, counts, states = (unpacked(data["passed"][name]).tolist() for name in ("pairs", "counts", "states"))
    ends = np.cumsum([0, *counts]).tolist()
    parts = zip(pairs, ends[:-1], ends[1:], strict=True)
    return {pair: tuple(states[first:last]) for pair, first, last in parts}
