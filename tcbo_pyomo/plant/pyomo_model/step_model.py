"""A user's model made ready to be copied for every step of a trajectory.

Time is discretised and cut to one step; the states at the start and the inputs are free to be tied; everything else stays as
the user left it: fixed variables are fixed, mutable Params are Params, inequalities are limits of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyomo.environ as pyo
from pyomo.dae import DerivativeVar

from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.plant.pyomo_model.defining_rows import Definition, definitions
from tcbo_pyomo.plant.pyomo_model.find_variables import find_variable
from tcbo_pyomo.plant.pyomo_model.first_guess import spread_states
from tcbo_pyomo.plant.pyomo_model.initial_conditions import free_initial_conditions, reduced_start
from tcbo_pyomo.plant.pyomo_model.moment import moment_of_end
from tcbo_pyomo.plant.pyomo_model.row_scaling import scale_rows
from tcbo_pyomo.plant.pyomo_model.smooth_parts import refuse_unsupported_components
from tcbo_pyomo.plant.pyomo_model.states_and_inputs import ModelInput, ModelState
from tcbo_pyomo.plant.pyomo_model.structure import determine, free_variables
from tcbo_pyomo.plant.pyomo_model.time_axis import (
    Discretisation,
    cut_after,
    derivatives,
    find_time,
    length_of_step,
)


@dataclass
class Links:
    """Where a step is joined to its neighbours. It is kept on the model, so that a copy has links of its own.

    Attributes
    ----------
    starts, ends
        Each state's variable at the start and at the end of the step.
    inputs
        Each input's variables with the share of the step that has passed, 0 to 1.
    unknowns
        All variables that the step determines.
    limits
        The model's inequalities.
    differential
        Each differential variable at the start and at the end of the step, and its derivative at the end.
    laws
        The equations at the end of the step: what the model says about a moment.
    formulas
        Variables that a row gives, each with its row; see `definitions`.
    within
        Each state's variable at the finite elements inside the step, with the share of the step that has passed.
    """

    starts: list[Any]
    ends: list[Any]
    inputs: list[list[tuple[float, Any]]]
    unknowns: list[Any]
    limits: list[Any]
    differential: list[tuple[Any, Any, Any]]
    laws: list[Any]
    formulas: list[Definition]
    within: list[tuple[float, list[Any]]]

    @property
    def inside(self) -> list[Any]:
        """Every variable of the step, in the same order for each copy."""
        return [*self.starts, *(variable for over_time in self.inputs for _, variable in over_time), *self.unknowns]

    @property
    def columns(self) -> list[Any]:
        """The variables inside that no formula gives."""
        formulated = {id(variable) for variable, _ in self.formulas}
        return [variable for variable in self.inside if id(variable) not in formulated]


@dataclass(frozen=True, eq=False)
class StepModel:
    """One step of the user's model.

    Attributes
    ----------
    model
        What is copied; its `links` are those of `Links`.
    duration
        Length of the step in the model's unit of time; None where the model has no time.
    start_values, input_values
        What the user's model has for the states and the inputs at the start; None where it has nothing.
    """

    model: pyo.ConcreteModel
    duration: float | None
    start_values: list[float | None]
    input_values: list[float | None]

    def copy(self) -> tuple[pyo.ConcreteModel, Links]:
        """A copy for one step and its links."""
        copied = self.model.clone()
        links: Links = copied._tcbo_links
        return copied, links


def built_model(build: Callable[[], pyo.ConcreteModel]) -> pyo.ConcreteModel:
    """What the user's function returns."""
    if not callable(build):
        raise BadInput(f"model {build!r} must be a function that returns a ConcreteModel")
    name = getattr(build, "__name__", "function")
    try:
        model = build()
    except TcboError:
        raise
    except Exception as error:
        raise BadInput(f"model: '{name}' failed: {type(error).__name__}: {' '.join(str(error).split())}") from error
    if not isinstance(model, pyo.ConcreteModel):
        raise BadInput(f"model: '{name}' returned a {type(model).__name__}, not a ConcreteModel")
    if model.is_constructed():
        return model
    raise BadInput(f"model: '{name}' returned a model that is not constructed; call create_instance()")


def step_model(
    model: pyo.ConcreteModel,
    states: Sequence[ModelState],
    inputs: Sequence[ModelInput],
    time_name: str | None,
    duration: Any,
    discretisation: Discretisation,
    restarting: Sequence[str],
) -> StepModel:
    """Make a model ready; it is changed in place."""
    for objective in model.component_data_objects(pyo.Objective, active=True, descend_into=True):
        objective.deactivate()
    time, length = find_time(model, time_name), None
    if time is not None:
        length = _prepare_time(model, time, duration, discretisation)
    elif duration is not None:
        raise BadInput(f"duration {duration}: the model has no ContinuousSet and is one step by itself; leave it out")
    refuse_unsupported_components(model)
    begin, finish = (None, None) if time is None else (time.first(), _end(time, length))
    starts, ends = _state_ends(model, states, time, begin, finish)
    over_time = [find_variable(model, given, given.variable) for given in inputs]
    known = [*starts, *(data for by_time in over_time for data in by_time.values())]
    for variable in known:
        variable.unfix()
    if time is not None:
        free_initial_conditions(model, time, begin, restarting)
    rows = list(model.component_data_objects(pyo.Constraint, active=True, descend_into=True))
    _refuse_integers(rows)
    if time is not None:
        rows = reduced_start(model, time, begin, rows, starts, known)
    unknowns, limits = _checked_structure(rows, known, ends)
    used = {id(v) for row in rows for v in free_variables(row)}
    span = 1.0 if length is None else length
    moved: list[list[tuple[float, Any]]] = []
    for given, by_time in zip(inputs, over_time, strict=True):
        moved.append([(((t or 0.0) - (begin or 0.0)) / span, v) for t, v in by_time.items() if id(v) in used])
        if not moved[-1]:
            raise BadInput(f"input '{given.name}': no equation of a step contains '{given.variable}'; it has no effect")
    first = [starts, [by_time.get(begin, next(iter(by_time.values()))) for by_time in over_time]]
    values = [[v.value for v in part] for part in first]
    _fix_the_rest(model, [*starts, *(v for part in moved for _, v in part), *unknowns])
    if time is not None:
        end_of_inputs = [by_time.get(finish, next(iter(by_time.values()))) for by_time in over_time]
        spread_states(model, time, finish, list(zip(starts, ends, strict=True)), end_of_inputs)
    scale_rows(rows)
    moment = ([], []) if time is None else moment_of_end(model, time, begin, finish)
    tied = [*starts, *(v for part in moved for _, v in part)]
    differentiated = [] if time is None else [v for d in derivatives(model, time) for v in d.get_state_var().values()]
    formulas = definitions(rows, [*ends, *differentiated], tied)
    within = [] if time is None else _states_within(model, states, time, span)
    model._tcbo_links = Links(starts, ends, moved, unknowns, limits, *moment, formulas, within)
    return StepModel(model, length, *values)


def _prepare_time(model: pyo.ConcreteModel, time: Any, duration: Any, discretisation: Discretisation) -> float:
    """Discretise where that is still to be done, and cut the model to one step; returns its length."""
    slopes = derivatives(model, time)
    if not slopes:
        raise BadInput(f"model: nothing is differentiated with respect to '{time.name}'; it needs a DerivativeVar")
    length = length_of_step(duration, model, time)
    end = time.first() + length
    if time.get_discretization_info():
        if not any(abs(point - end) <= 1e-6 * length for point in time.get_finite_elements()):
            points = ", ".join(f"{point:g}" for point in time.get_finite_elements()[:8])
            raise BadInput(f"duration {duration}: a step must end at a finite element of '{time.name}' ({points}, ...)")
    else:
        discretisation.apply(model, time, length)
    for derivative in model.component_objects(DerivativeVar, active=True, descend_into=True):
        sets = ", ".join(s.name for s in derivative.get_continuousset_list())
        raise BadInput(f"model: '{derivative.name}' is still continuous in {sets}; discretise all but time yourself")
    cut_after(model, time, end)
    return length


def _end(time: Any, length: float | None) -> Any:
    """The last point of the step."""
    wanted = time.first() + (length or 0.0)
    return min(time, key=lambda point: abs(point - wanted))


def _state_ends(
    model: pyo.ConcreteModel, states: Sequence[ModelState], time: Any, begin: Any, finish: Any
) -> tuple[list[Any], list[Any]]:
    """The variables of the states at the start and at the end of the step."""
    starts, ends = [], []
    for state in states:
        by_time = find_variable(model, state, state.variable)
        if time is None:
            if state.end is None or set(by_time) != {None}:
                raise BadInput(
                    f"state '{state.name}': without a ContinuousSet name the variables at its start and `end`"
                )
            starts.append(by_time[None])
            ends.append(find_variable(model, state, state.end)[None])
            continue
        if begin not in by_time or finish not in by_time:
            raise BadInput(
                f"state '{state.name}': '{state.variable}' does not depend on '{time.name}'; name one that does"
            )
        starts.append(by_time[begin])
        ends.append(by_time[finish])
    return starts, ends


def _states_within(
    model: pyo.ConcreteModel, states: Sequence[ModelState], time: Any, length: float
) -> list[tuple[float, list[Any]]]:
    """The variables of the states at the finite elements inside the step."""
    begin, found = time.first(), [find_variable(model, state, state.variable) for state in states]
    shares = {point: (point - begin) / length for point in time.get_finite_elements()}
    inside = {point: share for point, share in shares.items() if 1e-9 < share < 1.0 - 1e-9}
    return [
        (share, [by_time[point] for by_time in found])
        for point, share in inside.items()
        if all(point in by_time for by_time in found)
    ]


def _refuse_integers(rows: Iterable[Any]) -> None:
    for row in rows:
        for variable in free_variables(row):
            if not variable.is_continuous():
                raise BadInput(
                    f"model: '{variable.name}' has the domain {variable.domain}; a plant has continuous variables only, fix it "
                    "or relax it"
                )


def _checked_structure(rows: list[Any], known: list[Any], ends: list[Any]) -> tuple[list[Any], list[Any]]:
    """The unknowns of the step and its inequalities; refused where equations and unknowns do not match."""
    equations = [row for row in rows if row.equality]
    given = {id(v) for v in known}
    unknowns = {id(v): v for row in equations for v in free_variables(row) if id(v) not in given}
    found = determine(equations, known, [*unknowns.values(), *ends])
    if found.undetermined:
        names = ", ".join(f"'{v.name}'" for v in found.undetermined[:3])
        raise BadInput(
            f"model: {len(found.undetermined)} too many unknowns in a step, such as {names}; fix them, or declare them as "
            "inputs"
        )
    if found.contradictory:
        names = ", ".join(f"'{row.name}'" for row in found.contradictory[:3])
        raise BadInput(
            f"model: {len(found.contradictory)} too many equations in a step, such as {names}; unfix what they determine"
        )
    limits = [row for row in rows if not row.equality]
    settled = given | set(unknowns)
    for row in limits:
        loose = next((v for v in free_variables(row) if id(v) not in settled), None)
        if loose is not None:
            raise BadInput(
                f"model: '{loose.name}' in '{row.name}' follows from no equation; fix it, or declare it as an input"
            )
    return list(unknowns.values()), limits


def _fix_the_rest(model: pyo.ConcreteModel, live: Iterable[Any]) -> None:
    """Variables that nothing determines any more must not become columns of a plan; the others get a first guess."""
    kept = {id(v) for v in live}
    for variable in model.component_data_objects(pyo.Var, descend_into=True):
        if id(variable) not in kept and not variable.fixed:
            variable.fix(0.0 if variable.value is None else variable.value, skip_validation=True)
        elif id(variable) in kept and variable.value is None:
            variable.set_value(_guess(*variable.bounds), skip_validation=True)


def _guess(low: float | None, high: float | None) -> float:
    """A value within the bounds: their middle, else the allowed one nearest to one."""
    if low is not None and high is not None:
        return 0.5 * (low + high)
    return max(1.0, low) if low is not None else min(1.0, 1.0 if high is None else high)
