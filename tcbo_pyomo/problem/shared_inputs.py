"""States of a finite plant that the black box does not tell from each other: they share one value of f.

The age of a catalyst bed or a direction of travel decides which moves are possible, not what is measured. Such a coordinate
is left out of `inputs`. The prior is one over the distinct inputs; states that share theirs share its rows, so that a result
at one of them is a result at all, and no covariance matrix becomes singular by them. The maximum is sought among one state
for each distinct input, the one that an episode comes to first.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.black_box_inputs import BlackBoxInput, chosen_inputs
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.surrogate.alike_places import independent_shares

DIGITS = 9
"""Of scaled inputs: those that differ by less are the same."""
SAME_STATE = 1e-6
"""Share of an axis by which a value that was typed in may differ from that of a state."""


class SharedInputs(ProblemProtocol):
    """What a `Problem` knows about the inputs of its black box."""

    process: Process
    inputs: Sequence[str | BlackBoxInput] | None

    @property
    @abstractmethod
    def sets(self) -> EpisodeSets:
        """Safe states of every step under the constraints."""

    @property
    @abstractmethod
    def search_space(self) -> Mask:
        """States that an episode can visit (n)."""

    def take_inputs(self) -> None:
        """Inputs that are expressions of the states become coordinates of the process."""
        if self.inputs is None:
            return
        try:
            names, derived = chosen_inputs(self.inputs, self.process.coordinates, {}, "coordinate")
            if derived:
                object.__setattr__(self, "process", _with_columns(self.process, derived))
        except BadInput as error:
            raise BadInput(f"problem '{self.name}': {error}") from None
        object.__setattr__(self, "inputs", names)

    def check_shared(self, truth: Array) -> None:
        """Refuse true values that differ between states with the same inputs."""
        first = truth[self.first_states][self.input_of]
        other = np.flatnonzero(truth != first)
        if self.inputs is not None and len(other):
            state = int(other[0])
            same = int(self.first_states[self.input_of[state]])
            labels = self.process.labels
            raise BadInput(
                f"problem '{self.name}': truth is {truth[same]:g} at '{labels[same]}' and {truth[state]:g} at "
                f"'{labels[state]}', which have the same inputs; the output depends on {', '.join(map(str, self.inputs))}"
            )

    @cached_property
    def input_columns(self) -> Integers:
        """Positions of the inputs of the black box among the coordinates."""
        axes = self.process.coordinates
        names = [c.name for c in axes] if self.inputs is None else map(str, self.inputs)
        return np.array([coordinate_index(axes, name) for name in names], dtype=int)

    @cached_property
    def input_axes(self) -> tuple[Coordinate, ...]:
        """The axes of the inputs of the black box."""
        return self.coordinates if self.inputs is None else tuple(self.coordinates[c] for c in self.input_columns)

    @cached_property
    def seen_states(self) -> Array:
        """The scaled inputs of every state, n x p."""
        states = self.process.scaled_states
        return states if self.inputs is None else states[:, self.input_columns]

    @cached_property
    def _groups(self) -> tuple[Integers, Integers]:
        """The first state of each distinct input (m), and which of these each state has (n)."""
        number = self.process.number_of_states
        if self.inputs is None:
            return np.arange(number), np.arange(number)
        # Adding zero turns a negative zero into a positive one.
        rounded = np.round(self.seen_states, DIGITS) + 0.0
        _, first, group = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return first[order], np.argsort(order)[group.ravel()]

    @property
    def first_states(self) -> Integers:
        """The first state of each distinct input (m)."""
        return self._groups[0]

    @property
    def input_of(self) -> Integers:
        """For each state (n) the number of its distinct input; where nothing is shared its own number."""
        return self._groups[1]

    @property
    def distinct_inputs(self) -> Array:
        """The scaled inputs that differ, m x p."""
        return self.seen_states if self.inputs is None else self.seen_states[self.first_states]

    @cached_property
    def places(self) -> Mask:
        """Where the maximum is sought (n): of visitable states that share their inputs the one that is met first."""
        visitable = self.search_space
        if self.inputs is None:
            return visitable
        order = np.argsort(np.where(visitable, self.sets.first_met(self.start_state), np.inf), kind="stable")
        chosen = order[np.unique(self.input_of[order], return_index=True)[1]]
        mask = np.zeros_like(visitable)
        mask[chosen] = True
        return mask & visitable

    @cached_property
    def place_shares(self) -> Array:
        """How much each state counts in a sum over places (n): a crowd of alike places as one, other states as nothing."""
        shares = np.zeros(self.process.number_of_states)
        shares[self.places] = independent_shares(self.kernel, self.seen_states[self.places])
        return shares

    def describe_inputs(self, state: int) -> dict[str, float]:
        """What the black box sees of a state, `{input: value}` in engineering units."""
        values = self.describe(state)
        return {axis.name: values[axis.name] for axis in self.input_axes}

    def route_to(self, state: int) -> list[dict[str, Any]] | None:
        """The moves of a shortest episode to a state: for each its step, and where it leads.

        None where no move by move list can promise it: chance decides, or a rule adds up over the episode.
        """
        if not self.process.deterministic or any(rule.couples_steps for rule in self.rules):
            return None
        pairs = self.sets.shortest_path(self.start_state, state)
        places = [] if pairs is None else [self.describe(self.process.successor[pair]) for pair in pairs]
        moves = [{"step": step, "actions": {}, "at": at} for step, at in enumerate(places, start=1)]
        return None if pairs is None else moves

    def locate(self, at: Any) -> int:
        """The state a user means by a label, an index or `{coordinate: value}`; as many coordinates as leave only one."""
        if self.inputs is None or not isinstance(at, Mapping) or len(at) == len(self.coordinates):
            return self.process.state_index(at)
        return self._only_one(self._agreeing(at), at)

    def arrival(self, at: Any, expected: int | None, decision: Any) -> int:
        """Where a move led: whatever was measured of it, the rest as expected of the move."""
        if self.inputs is None or not isinstance(at, Mapping):
            return self.locate(at)
        found = self._agreeing(at)
        likely = [expected] if expected is not None else self.process.successors_of(decision).tolist()
        if expected is None and len(known := np.intersect1d(found, likely)):
            found = known
        states = self.process.scaled_states
        apart = (np.abs(states[found][:, None] - states[likely]) > SAME_STATE).sum(axis=2).min(axis=1)
        nearest = found[apart == apart.min()]
        return expected if expected is not None and expected in nearest else self._only_one(nearest, at)

    def place_seen(self, at: Any) -> int:
        """A state that has some inputs; any of those that share them is as good."""
        if self.inputs is None or not isinstance(at, Mapping):
            return self.locate(at)
        missing = [axis.name for axis in self.input_axes if axis.name not in at]
        found = self._agreeing(at)
        if missing and len(np.unique(self.input_of[found])) > 1:
            needed = ", ".join(axis.name for axis in self.input_axes)
            raise BadInput(f"missing input(s) {', '.join(missing)}; the output depends on {needed}")
        return int(found[0])

    def _agreeing(self, at: Mapping[str, Any]) -> Integers:
        """The states that have some values."""
        axes, process = self.coordinates, self.process
        columns = [coordinate_index(axes, name) for name in at]
        values = [axes[column].value_of(value) for column, value in zip(columns, at.values(), strict=True)]
        widths = np.array([axes[column].width for column in columns])
        apart = (np.abs(process.states[:, columns] - np.array(values)) / widths).max(axis=1, initial=0.0)
        if apart.min() > SAME_STATE:
            given = ", ".join(f"{axes[c].name}={value:g}" for c, value in zip(columns, values, strict=True))
            raise BadInput(f"no state at {given}; the nearest is '{process.labels[int(apart.argmin())]}'")
        return np.flatnonzero(apart <= SAME_STATE)

    def _only_one(self, found: Integers, at: Mapping[str, Any]) -> int:
        if len(found) == 1:
            return int(found[0])
        labels = [f"'{self.process.labels[state]}'" for state in found[:3]]
        more = ", ..." if len(found) > 3 else ""
        left = [c.name for c in self.coordinates if c.name not in at]
        say = f"say also {', '.join(left)}" if left else "give the label of the state"
        raise BadInput(f"{len(found)} states are at {dict(at)}: {', '.join(labels)}{more}; {say}")


def _with_columns(process: Process, derived: tuple[BlackBoxInput, ...]) -> Process:
    """The process with expressions of its states as further coordinates."""
    places = [process.describe(state) for state in range(process.number_of_states)]
    columns = [[given.number(place) for place in places] for given in derived]
    axes = (*process.coordinates, *(given.coordinate for given in derived))
    return replace(process, coordinates=axes, states=np.column_stack([process.states, *columns]))
