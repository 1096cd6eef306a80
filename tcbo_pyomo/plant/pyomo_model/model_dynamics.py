"""Dynamics of a plant that is a Pyomo model: the model is copied for each step, and the ends are tied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.dynamics import NonlinearDynamics
from tcbo_pyomo.plant.pyomo_model.states_and_inputs import ModelInput

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from tcbo_pyomo.plant.pyomo_model.defining_rows import Definition
    from tcbo_pyomo.plant.pyomo_model.step_model import Links, StepModel
    from tcbo_pyomo.plant.pyomo_model.unit_conversion import Conversion


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

    def formulas(self, model: ConcreteModel) -> list[Definition]:
        """The variables inside the steps of a trajectory that a row gives, each after those it needs."""
        return [formula for step in model.STEPS for formula in self.links(model, step).formulas]


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

    def inputs_at(self, present: Mapping[str, float], decided: Mapping[str, float], share: float) -> list[float]:
        """The inputs in the model's units when a share of the step has passed."""
        values = (_value(given, present.__getitem__, decided.__getitem__, share) for given, _ in self.inputs)
        return [float(axis.conversion.to_model(v)) for (_, axis), v in zip(self.inputs, values, strict=True)]

    def written(self, ends: list[float], present: Mapping[str, float], decided: Mapping[str, float]) -> list[float]:
        """The coordinates after a step, in engineering units, from the model's states at its end."""
        states = [float(axis.conversion.from_model(end)) for axis, end in zip(self.states, ends, strict=True)]
        held = [given for given, _ in self.inputs if given.has_present_value]
        return states + [float(_value(given, present.__getitem__, decided.__getitem__, 1.0)) for given in held]


def _value(given: ModelInput, present: Lookup, decided: Lookup, share: float) -> Any:
    """An input when a share of the step has passed, from its present value and what was decided."""
    if not given.has_present_value:
        return decided(given.name)
    change = decided(f"{given.name}_change")
    return present(given.name) + (share if given.profile == "ramped" else 1.0) * change
