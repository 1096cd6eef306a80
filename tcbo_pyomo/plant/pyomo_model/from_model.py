"""`dynamics_from_model`: hand over a Pyomo model instead of writing x' = F(x, a)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.pyomo_model.model_dynamics import Axis, CopyOfModel, ModelDynamics
from tcbo_pyomo.plant.pyomo_model.states_and_inputs import ModelInput, ModelState

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


def dynamics_from_model(
    build: Callable[[], ConcreteModel],
    states: Sequence[ModelState],
    inputs: Sequence[ModelInput],
    *,
    duration: Any = None,
    time: str | None = None,
    elements: int = 2,
    points: int = 3,
    restarting: Sequence[str] = (),
) -> ModelDynamics:
    """Dynamics of a plant that is a Pyomo model, such as a pyomo.dae reactor or an IDAES flowsheet.

    The model is copied for every step, and the states at the end of a step are those at the start of the next. Fixed
    variables stay fixed and mutable Params stay Params; initial conditions that the model has fixed are freed; its
    inequalities and bounds become limits of the plan; an objective is switched off. Every step begins at the start of the
    model's time: what depends on time itself is the same in each.

    Parameters
    ----------
    build
        Returns a ConcreteModel with a ContinuousSet, discretised or not, or a model of one step.
    states
        What a step passes to the next: as many as the model needs to continue.
    inputs
        What a plan decides for each step, with limits.
    duration
        Duration of a step: a number in the model's unit of time, or a quantity such as `5 * units.minute`. Default: the
        whole length of the model's time.
    time
        The ContinuousSet of time, if the model has several.
    elements, points
        Discretisation of a model that has none: finite elements per step, and Radau collocation points per element (0:
        backward differences).
    restarting
        Differential variables that begin every step with their fixed value, such as the product formed in a step.

    Returns
    -------
    ModelDynamics
        For `ContinuousProblem(coordinates=dynamics.coordinates, dynamics=dynamics, ...)`; `dynamics.start` is the model's
        own start.
    """
    # Here, since Pyomo takes long to load.
    from tcbo_pyomo.plant.pyomo_model.step_model import built_model, step_model
    from tcbo_pyomo.plant.pyomo_model.time_axis import Discretisation

    _check_declarations(states, inputs)
    discretisation = Discretisation(elements, points)
    template = step_model(built_model(build), states, inputs, time, duration, discretisation, restarting)
    links = template.model._tcbo_links
    of_states = tuple(_axis(given, variable) for given, variable in zip(states, links.starts, strict=True))
    of_inputs = tuple(
        (given, _axis(given, over_time[0][1])) for given, over_time in zip(inputs, links.inputs, strict=True)
    )
    present = [axis for given, axis in of_inputs if given.has_present_value]
    values = [
        *template.start_values,
        *(v for g, v in zip(inputs, template.input_values, strict=True) if g.has_present_value),
    ]
    start = {
        axis.coordinate.name: float(axis.conversion.from_model(value))
        for axis, value in zip([*of_states, *present], values, strict=True)
        if value is not None
    }
    for name, value in start.items():
        if not math.isfinite(value):
            raise BadInput(f"state '{name}': the model begins with {value}; its initial condition must be a finite number")
    limits = dict(_limit(given, axis.coordinate, template.duration or 1.0) for given, axis in of_inputs)
    function = CopyOfModel(template, of_states, of_inputs, getattr(build, "__name__", "model"))
    return ModelDynamics(
        tuple(axis.coordinate for axis in [*of_states, *present]),
        function,
        BoxActions(limits),
        step_model=template,
        start=start,
    )


def _check_declarations(states: Sequence[ModelState], inputs: Sequence[ModelInput]) -> None:
    for what, given, kind in (("states", states, ModelState), ("inputs", inputs, ModelInput)):
        wrong = next((item for item in given if not isinstance(item, kind)), None)
        if not given or wrong is not None:
            raise BadInput(f"{what}: {'none given' if not given else repr(wrong)}; give a list of {kind.__name__}(...)")
    names = [*(state.name for state in states), *(given.name for given in inputs)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"states and inputs: the name '{twice}' is used twice; each needs a name of its own")


def _axis(given: ModelState | ModelInput, variable: Any) -> Axis:
    """The coordinate of a state or input: limits as declared, else the variable's own bounds."""
    from tcbo_pyomo.plant.pyomo_model.unit_conversion import conversion

    convert = conversion(f"{given.kind} '{given.name}'", given.unit, variable)
    own = [None if bound is None else float(convert.from_model(bound)) for bound in variable.bounds]
    low, high = (
        limit if limit is not None else bound for limit, bound in zip((given.lower, given.upper), own, strict=True)
    )
    if low is None or high is None:
        raise BadInput(
            f"{given.kind} '{given.name}': no limits; '{variable.name}' has the bounds {tuple(own)}, give lower and upper"
        )
    return Axis(Coordinate(given.name, low, high, convert.unit), convert)


def _limit(given: ModelInput, coordinate: Coordinate, duration: float) -> tuple[str, tuple[float, float]]:
    """The name and limits of an input's action."""
    if not given.has_present_value:
        return given.name, (coordinate.lower, coordinate.upper)
    change = coordinate.width if given.rate is None else min(given.rate * duration, coordinate.width)
    return f"{given.name}_change", (-change, change)
