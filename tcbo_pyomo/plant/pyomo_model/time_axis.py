"""The time of a user's model: found, discretised where it is not, and cut to the length of one step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyomo.environ as pyo
from pyomo.core.base.component import Component
from pyomo.core.expr import identify_variables
from pyomo.dae import ContinuousSet, DerivativeVar
from pyomo.dae.flatten import flatten_dae_components

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.coordinates import NUMBERS

SAME_TIME = 1e-6
"""Share of a step: pyomo.dae rounds its points to six digits."""


@dataclass(frozen=True)
class Discretisation:
    """How a model that is still continuous in time is discretised.

    Parameters
    ----------
    elements
        Finite elements per step.
    points
        Collocation points per element (Radau); 0 for implicit Euler (backward differences).
    """

    elements: int = 2
    points: int = 3

    def __post_init__(self) -> None:
        for name, number, least in (("elements", self.elements, 1), ("points", self.points, 0)):
            if not isinstance(number, int) or isinstance(number, bool) or number < least:
                raise BadInput(f"discretisation: {name} {number!r} must be a whole number of at least {least}")

    def apply(self, model: pyo.ConcreteModel, time: Any, length: float) -> None:
        """Discretise so that a step has its elements, and carry what was fixed at the ends to the new points."""
        before = {name: dict(reference.items()) for name, reference in variables_over(model, time)}
        for number in range(1, self.elements + 1):
            point = time.first() + length * number / self.elements
            if not any(abs(known - point) <= SAME_TIME * length for known in time):
                time.add(point)
        # pyomo.dae offers no way to add a finite element to a set that is constructed.
        time._fe = sorted(time)
        time.set_changed(True)
        elements = len(time) - 1
        try:
            if self.points:
                method = pyo.TransformationFactory("dae.collocation")
                method.apply_to(model, wrt=time, nfe=elements, ncp=self.points, scheme="LAGRANGE-RADAU")
            else:
                method = pyo.TransformationFactory("dae.finite_difference")
                method.apply_to(model, wrt=time, nfe=elements, scheme="BACKWARD")
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise BadInput(f"model: pyomo.dae cannot discretise it over '{time.name}': {reason}") from error
        for name, reference in variables_over(model, time):
            if name in before:
                _carry(before[name], dict(reference.items()), time.first())


def _carry(before: dict[Any, Any], after: dict[Any, Any], first: float) -> None:
    """A variable that is fixed after the start stays fixed in between; values are those of the last point before."""
    later = [data for when, data in before.items() if when != first]
    fixed = bool(later) and all(data.fixed for data in later)
    for when in sorted(set(after) - set(before)):
        source = before[max((known for known in before if known <= when), default=min(before))]
        if fixed and not source.fixed:
            source = before[min(known for known in before if known > when)]
        after[when].set_value(source.value, skip_validation=True)
        if fixed:
            after[when].fix()


def variables_over(model: pyo.ConcreteModel, time: Any) -> Iterator[tuple[str, Any]]:
    """(name with * for time, variable by time) of every variable that depends on time; active blocks only."""
    _, over_time = flatten_dae_components(model, time, pyo.Var, active=True)
    for reference in over_time:
        yield str(pyo.ComponentUID(reference.referent)), reference


def derivatives(model: pyo.ConcreteModel, time: Any) -> list[Any]:
    """The DerivativeVars with respect to time."""
    found = model.component_objects((DerivativeVar, pyo.Var), active=True, descend_into=True)
    return [v for v in found if isinstance(v, DerivativeVar) and any(s is time for s in v.get_continuousset_list())]


def find_time(model: pyo.ConcreteModel, name: str | None) -> Any:
    """The ContinuousSet of time; None where the model has none, so that it is a model of one step."""
    sets = list(model.component_objects(ContinuousSet, active=True, descend_into=True))
    if name is not None:
        chosen = next((s for s in sets if s.name == name), None)
        if chosen is None:
            known = [s.name for s in sets]
            raise BadInput(
                f"time: the model has no ContinuousSet '{name}'; "
                + (suggestion(name, known) if known else "it has none, leave out `time`")
            )
        return chosen
    if len(sets) > 1:
        names = ", ".join(s.name for s in sets)
        raise BadInput(f"time: the model has several ContinuousSets ({names}); name the one that is time")
    return sets[0] if sets else None


def length_of_step(duration: Any, model: pyo.ConcreteModel, time: Any) -> float:
    """How long a step lasts, in the model's unit of time: as given, or the length of the model's time."""
    whole = time.last() - time.first()
    if duration is None:
        return float(whole)
    number = duration if isinstance(duration, NUMBERS) else _converted(duration, model, time)
    if not 0 < number <= whole * (1 + SAME_TIME):
        raise BadInput(
            f"duration {duration}: '{time.name}' goes from {time.first():g} to {time.last():g}; a step must be longer than 0 "
            f"and at most {whole:g}"
        )
    return float(number)


def _converted(duration: Any, model: pyo.ConcreteModel, time: Any) -> float:
    """A quantity such as `5 * units.minute` in the model's unit of time, which its derivatives tell."""
    for derivative in derivatives(model, time):
        state = next(iter(derivative.get_state_var().values()))
        slope = pyo.units.get_units(next(iter(derivative.values())))
        own = pyo.units.get_units(state)
        if slope is not None and str(slope) != "dimensionless":
            try:
                return float(pyo.value(pyo.units.convert(duration, to_units=own / slope)))
            except Exception as error:
                raise BadInput(f"duration {duration}: does not convert to the model's unit of time ({error})") from None
    raise BadInput(f"duration {duration}: the model's derivatives have no units; give a number in the model's own time")


def cut_after(model: pyo.ConcreteModel, time: Any, end: float) -> None:
    """Drop every part of the model that lies after `end`: its rows, its blocks and its variables."""
    late = {when for when in time if when > end + SAME_TIME * (time.last() - time.first())}
    if not late:
        return
    dropped: set[int] = set()
    for component in model.component_objects((pyo.Constraint, pyo.Block, pyo.Var), active=True, descend_into=True):
        position = _position(component, time)
        if position is None:
            continue
        for index, data in component.items():
            if (index if not isinstance(index, tuple) else index[position]) not in late:
                continue
            if component.ctype is not pyo.Var:
                data.deactivate()
                continue
            dropped.add(id(data))
            if not data.fixed:
                data.fix(0.0 if data.value is None else data.value, skip_validation=True)
    for row in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
        if any(id(variable) in dropped for variable in identify_variables(row.body)):
            raise BadInput(
                f"model: '{row.name}' uses a time after the step, which ends at {end:g}; deactivate it, or make the "
                "model as long as a step"
            )


def _position(component: Component, time: Any) -> int | None:
    """At which place of a component's index time stands."""
    place = 0
    for part in component.index_set().subsets() if component.is_indexed() else ():
        if part is time:
            return place
        place += part.dimen
    return None
