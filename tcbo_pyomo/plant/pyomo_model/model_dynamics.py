"""Dynamics of a plant that is a Pyomo model: the model is copied for each step, and the ends are tied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.dynamics import NonlinearDynamics
from tcbo_pyomo.plant.pyomo_model.states_and_inputs import ModelInput

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from tcbo_pyomo.plant.pyomo_model.defining_rows import Definition
    from tcbo_pyomo.plant.pyomo_model.step_model import Links, StepModel
    from tcbo_pyomo.plant.pyomo_model.unit_conversion import Conversion


SAME_MOMENT = 1e-6
"""Share of a step by which a moment may differ from a finite element."""
Lookup = Callable[[str], Any]
"""A value or Pyomo expression by name."""


@dataclass(frozen=True, eq=False)
class ModelDynamics(NonlinearDynamics):
    """What `dynamics_from_model` returns: `NonlinearDynamics` whose function copies the user's model.

    Attributes
    ----------
    coordinates
        The states, then the inputs that have a present value.
    duration
        Length of a step in the model's unit of time; None for a model of one step.
    start
        What the model itself begins with, `{coordinate: value}`; a coordinate that has no value there is missing.
    """

    function: CopyOfModel
    step_model: StepModel = field(kw_only=True)
    start: Mapping[str, float] = field(kw_only=True)

    @property
    def duration(self) -> float | None:
        """Length of a step in the model's unit of time."""
        return self.step_model.duration

    def links(self, model: ConcreteModel, step: int) -> Links:
        """Where the copy of one step of a trajectory is joined to the rest."""
        links: Links = model.component(copy_name(step))._tcbo_links
        return links

    def part(self, share: float) -> PartOfModel:
        """The same plant from the beginning of a step to a finite element inside it."""
        return PartOfModel(self, self.moment(share))

    def moment(self, share: float) -> int:
        """Which of the finite elements inside a step is at a share of it."""
        known = [at for at, _ in self.step_model.model._tcbo_links.within]
        found = next((number for number, at in enumerate(known) if abs(at - share) <= SAME_MOMENT), None)
        if found is None:
            points = ", ".join(f"{at:g}" for at in [*known, 1.0])
            raise BadInput(
                f"measured_at: {share:g} of a step is no finite element of the model, which has them at {points}; choose among "
                "these, or other `elements` in dynamics_from_model"
            )
        return found

    def formulas(self, model: ConcreteModel) -> list[Definition]:
        """The variables inside the steps of a trajectory that a row gives, each after those it needs."""
        return [formula for step in model.STEPS for formula in self.links(model, step).formulas]


@dataclass(frozen=True, eq=False)
class PartOfModel:
    """A plant that is a model, from the beginning of a step to a finite element inside it.

    Attributes
    ----------
    whole
        The dynamics of the whole step, which has been copied into the trajectory.
    number
        Which of the finite elements inside it.
    """

    whole: ModelDynamics
    number: int

    def next_values(self, model: ConcreteModel, step: int) -> dict[str, Any]:
        """Pyomo expressions of the scaled state there, by coordinate name."""
        share, variables = self.whole.links(model, step).within[self.number]
        function: Any = self.whole.function
        there = function.within(model, step, share, variables)
        return {c.name: (there[c.name] - c.lower) / c.width - 0.5 for c in self.whole.coordinates}


def copy_name(step: int) -> str:
    """The name of the copy of a step in the trajectory."""
    return f"plant_{step}"


class Axis(NamedTuple):
    """A state or an input, and how it converts to the model's unit."""

    coordinate: Coordinate
    conversion: Conversion

    def row(self, variable: Any, wanted: Any) -> Any:
        """variable == wanted in engineering units, divided by the width of the axis."""
        width = self.coordinate.width
        return self.conversion.from_model(variable) / width == wanted / width


@dataclass(frozen=True)
class CopyOfModel:
    """`function(model, step)` of the dynamics: copies the model and ties its ends."""

    template: StepModel
    states: tuple[Axis, ...]
    inputs: tuple[tuple[ModelInput, Axis], ...]
    __name__: str = "model"

    def __call__(self, model: ConcreteModel, step: int) -> dict[str, Any]:
        """The next value of every coordinate, in engineering units."""
        from pyomo.environ import ConstraintList

        copied, links = self.template.copy()
        model.add_component(copy_name(step), copied)
        copied._tcbo_ties = ConstraintList()
        following: dict[str, Any] = {}
        ties: list[Definition] = []

        def present(name: str) -> Any:
            return model.physical[step, name]

        def decided(name: str) -> Any:
            return model.action[step, name]

        for axis, start, end in zip(self.states, links.starts, links.ends, strict=True):
            name = axis.coordinate.name
            ties.append((start, copied._tcbo_ties.add(axis.row(start, model.physical[step, name]))))
            following[name] = axis.conversion.from_model(end)
        for (given, axis), over_time in zip(self.inputs, links.inputs, strict=True):
            for share, variable in over_time:
                row = copied._tcbo_ties.add(axis.row(variable, _value(given, present, decided, share)))
                ties.append((variable, row))
            if given.has_present_value:
                following[given.name] = _value(given, present, decided, 1.0)
        links.formulas = [*ties, *links.formulas]
        return following

    def within(self, model: ConcreteModel, step: int, share: float, variables: list[Any]) -> dict[str, Any]:
        """Every coordinate when a share of a copied step has passed, in engineering units, from the states' variables."""
        found = {axis.coordinate.name: axis.conversion.from_model(v) for axis, v in zip(self.states, variables, strict=True)}
        for given, _ in self.inputs:
            if given.has_present_value:
                present, decided = (lambda name: model.physical[step, name]), (lambda name: model.action[step, name])
                found[given.name] = _value(given, present, decided, share)
        return found

    def inputs_at(self, present: Mapping[str, float], decided: Mapping[str, float], share: float) -> list[float]:
        """The inputs in the model's units when a share of the step has passed."""
        values = (_value(given, present.__getitem__, decided.__getitem__, share) for given, _ in self.inputs)
        return [float(axis.conversion.to_model(v)) for (_, axis), v in zip(self.inputs, values, strict=True)]

    def written(
        self, ends: list[float], present: Mapping[str, float], decided: Mapping[str, float], share: float = 1.0
    ) -> list[float]:
        """The coordinates after a step, or a share of it, in engineering units, from the model's states there."""
        states = [float(axis.conversion.from_model(end)) for axis, end in zip(self.states, ends, strict=True)]
        held = [given for given, _ in self.inputs if given.has_present_value]
        return states + [float(_value(given, present.__getitem__, decided.__getitem__, share)) for given in held]


def _value(given: ModelInput, present: Lookup, decided: Lookup, share: float) -> Any:
    """An input when a share of the step has passed, from its present value and what was decided."""
    if not given.has_present_value:
        return decided(given.name)
    change = decided(f"{given.name}_change")
    return present(given.name) + (share if given.profile == "ramped" else 1.0) * change
