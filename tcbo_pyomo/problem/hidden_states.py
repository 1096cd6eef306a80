"""States of a plant that the black box does not see: carried along by the model, corrected by whatever is measured of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index, in_engineering_units
from tcbo_pyomo.plant.black_box_inputs import (
    BlackBoxInput,
    action_ranges,
    chosen_inputs,
    derived_inputs,
    with_derived_inputs,
)
from tcbo_pyomo.plant.dynamics import Dynamics
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.derived_values import completed_start, values_of
from tcbo_pyomo.problem.protocol import ProblemProtocol

SAME_VALUE = 1e-9
"""Share of a value by which it may differ when it was printed and typed in again."""


class HiddenStates(ProblemProtocol):
    """What a `ContinuousProblem` knows about the inputs of its black box."""

    dynamics: Dynamics
    inputs: Sequence[str | BlackBoxInput] | None

    def take_inputs(self) -> None:
        """Inputs that are actions or expressions become coordinates that the others determine."""
        if self.inputs is None:
            return
        try:
            names, derived = chosen_inputs(self.inputs, self.coordinates, action_ranges(self.dynamics))
            if derived:
                coordinates, dynamics = with_derived_inputs(self.dynamics, tuple(self.coordinates), derived)
                object.__setattr__(self, "coordinates", coordinates)
                object.__setattr__(self, "dynamics", dynamics)
            object.__setattr__(self, "inputs", names)
            if isinstance(self.start, Mapping):
                start = completed_start(self.start, self.dynamics, self.coordinates)
                object.__setattr__(self, "start", start)
        except BadInput as error:
            raise BadInput(f"problem '{self.name}': {error}") from None

    @cached_property
    def input_columns(self) -> Integers:
        """Positions of the inputs of the black box among the coordinates."""
        every = range(len(self.coordinates))
        chosen = every if self.inputs is None else [coordinate_index(self.coordinates, str(n)) for n in self.inputs]
        return np.array(list(chosen), dtype=int)

    @cached_property
    def input_axes(self) -> tuple[Coordinate, ...]:
        """The axes of the inputs of the black box."""
        return tuple(self.coordinates[column] for column in self.input_columns)

    @cached_property
    def has_hidden(self) -> bool:
        """Whether the inputs of the black box are others than the coordinates of the plant."""
        return self.input_columns.tolist() != list(range(len(self.coordinates)))

    @property
    def moves_freely(self) -> bool:
        """Whether the action is the move itself, in the space of the inputs too."""
        return self.dynamics.is_free_move and not self.has_hidden

    def observed(self, states: Array) -> Array:
        """What the black box sees of scaled states (d, or rows of d): its scaled inputs."""
        return states[..., self.input_columns] if self.has_hidden else states

    @property
    def input_names(self) -> list[str] | None:
        """The names of the inputs of the black box; None where they are all coordinates."""
        return None if self.inputs is None else [axis.name for axis in self.input_axes]

    def describe_inputs(self, point: Array | Sequence[float]) -> dict[str, float]:
        """Scaled inputs (p) as `{input: value}` in engineering units."""
        return in_engineering_units(self.input_axes, point)

    def arrival(self, at: Any, expected: Location | None, decision: Any) -> Location:
        """Where a move led: of a plant that a model carries along whatever was measured of it, the rest as expected."""
        modelled = self.has_hidden or not self.dynamics.is_free_move
        if not (modelled and isinstance(at, Mapping) and expected is not None):
            return self.locate(at)
        actions = dict(zip(self.dynamics.actions.names or (), decision or (), strict=False))
        measured, model = self._numbers(at), self.describe(expected)
        states = {**model, **measured}
        # A table that was filled in has the expected value of an expression beside the states that were measured.
        own = {name: v for name, v in measured.items() if abs(v - model[name]) > SAME_VALUE * abs(model[name])}
        return self.locate({**states, **self.derived_values(states, actions), **own})

    def place_seen(self, at: Any) -> Location:
        """A place that has some inputs; what the black box does not see of it is as at the start."""
        if not (self.has_hidden and isinstance(at, Mapping)):
            return self.locate(at)
        missing = [c.name for c in self.input_axes if c.name not in {**self.with_derived(at)}]
        if missing:
            needed = ", ".join(c.name for c in self.input_axes)
            raise BadInput(f"missing input(s) {', '.join(missing)}; the output depends on {needed}")
        return self.locate({**self.describe(self.start_state), **self.with_derived(at)})

    def with_derived(self, at: Mapping[str, Any]) -> Mapping[str, Any]:
        """A place with the inputs that its states determine."""
        return {**self.derived_values(self._numbers(at), {}), **at} if self.has_hidden else at

    def _numbers(self, at: Mapping[str, Any]) -> dict[str, float]:
        """What was given of a place, as numbers in the units of the coordinates."""
        return {name: self.coordinates[coordinate_index(self.coordinates, name)].value_of(v) for name, v in at.items()}

    def derived_values(self, states: Mapping[str, float], actions: Mapping[str, float]) -> dict[str, float]:
        """The inputs that are expressions, as far as they can be worked out of states and actions."""
        return values_of(derived_inputs(self.dynamics), states, actions)
