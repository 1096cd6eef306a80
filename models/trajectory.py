"""The trajectory of a continuous plant (section 4.2): states and actions tied by the dynamics.

    x_{h+1} = F(x_h, a_h),   a_h within its limits,   x_h in the box,   and every constraint of the plant.

The model has no objective: the information objective changes with every re-plan, the trajectory does not.
Steps are the absolute steps of an episode. What has already happened is told to a compiled model by equal
bounds, so one model serves all re-plans, and whatever is added up over the episode counts what is already
spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate, point_from_mapping, scaled
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.plant.dynamics import Dynamics
from tcbo_pyomo.plant.pyomo_model.model_dynamics import PartOfModel


def build_trajectory(
    coordinates: Sequence[Coordinate],
    dynamics: Dynamics,
    start: Mapping[str, Any] | Array,
    steps: int,
    constraints: Sequence[TransitionConstraint] = (),
    inputs: Sequence[str] | None = None,
    parts: Sequence[Dynamics | PartOfModel] = (),
) -> pyo.ConcreteModel:
    """The trajectory model of an episode.

    Parameters
    ----------
    coordinates
        The d axes.
    dynamics
        `LinearDynamics` or `NonlinearDynamics`, with the limits of the actions.
    start
        `{coordinate: value}` in engineering units, or a scaled point (d).
    steps
        Moves of the whole episode, H.
    constraints
        Rules of the plant; each adds its constraints with `add_to_trajectory`.
    inputs
        The coordinates that the black box depends on. Default: all of them.
    parts
        The dynamics from the beginning of a step to each moment within it at which the plant is measured.

    Returns
    -------
    ConcreteModel
        Sets COORDINATES, INPUTS (those the black box depends on), ACTIONS, STEPS (0..H-1) and POINTS (0..H); Var
        state[point, name], scaled to [-0.5, 0.5]; Var action[step, name]; Expression physical[point, name] in
        engineering units; Constraint dynamics[step, name]; with `parts` Var between[step, moment, name], scaled.
        `model.coordinates` are the axes. A constraint that adds variables of its own appends to
        `model.auxiliary_starts` a function that gives their values for a scaled path ((H + 1) x d), and to
        `model.defining_rows` the rows that only tie such a variable to what it stands for.
    """
    if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or steps < 1:
        raise BadInput(f"trajectory: steps {steps!r} must be a whole number of at least 1")
    dynamics.check_dimension(coordinates)
    names = [c.name for c in coordinates]
    lower, upper = dynamics.actions.bounds()
    limits = dict(zip(dynamics.actions.names or (), zip(lower.tolist(), upper.tolist(), strict=True), strict=True))

    model = pyo.ConcreteModel(name="trajectory")
    model.coordinates = tuple(coordinates)
    model.auxiliary_starts = []
    model.defining_rows = []
    model.COORDINATES = pyo.Set(initialize=names, ordered=True)
    model.INPUTS = pyo.Set(initialize=names if inputs is None else list(inputs), ordered=True)
    model.ACTIONS = pyo.Set(initialize=list(limits), ordered=True)
    model.STEPS = pyo.RangeSet(0, int(steps) - 1)
    model.POINTS = pyo.RangeSet(0, int(steps))
    model.state = pyo.Var(model.POINTS, model.COORDINATES, bounds=(-0.5, 0.5), initialize=0.0)
    model.action = pyo.Var(
        model.STEPS,
        model.ACTIONS,
        bounds=lambda model, step, name: limits[name],
        initialize=lambda model, step, name: min(max(0.0, limits[name][0]), limits[name][1]),
    )
    axes = {c.name: c for c in coordinates}
    model.physical = pyo.Expression(
        model.POINTS,
        model.COORDINATES,
        rule=lambda model, point, name: axes[name].lower + (model.state[point, name] + 0.5) * axes[name].width,
    )
    _hold_start(model, _scaled_start(coordinates, start))
    _declare_dynamics(model, dynamics)
    if parts:
        _declare_between(model, parts)
    dynamics.actions.add_to_trajectory(model)
    for constraint in constraints:
        constraint.add_to_trajectory(model)
    return model


def _scaled_start(coordinates: Sequence[Coordinate], start: Mapping[str, Any] | Array) -> Array:
    if isinstance(start, Mapping):
        return scaled(coordinates, point_from_mapping(coordinates, start))
    point = np.asarray(start, dtype=float)
    if point.shape != (len(coordinates),) or not np.isfinite(point).all():
        raise BadInput(f"trajectory: start {start!r} must be {len(coordinates)} finite scaled values")
    return point


def _hold_start(model: pyo.ConcreteModel, start: Array) -> None:
    """x_0 by equal bounds: a fixed variable would vanish from the compiled model."""
    for coordinate, value in zip(model.coordinates, start.tolist(), strict=True):
        if not -0.5 - 1e-9 <= value <= 0.5 + 1e-9:
            given = coordinate.lower + (value + 0.5) * coordinate.width
            allowed = f"{coordinate.lower:g} to {coordinate.upper:g}"
            raise InfeasiblePlan(
                f"start: {coordinate.title} is {given:g}, allowed is {allowed}; start inside the bounds"
            )
        held = min(max(value, -0.5), 0.5)
        model.state[0, coordinate.name].setlb(held)
        model.state[0, coordinate.name].setub(held)
        model.state[0, coordinate.name].set_value(held)


def _declare_dynamics(model: pyo.ConcreteModel, dynamics: Dynamics) -> None:
    following = {step: dynamics.next_values(model, step) for step in model.STEPS}

    def dynamics_rule(model: pyo.ConcreteModel, step: int, name: str) -> Any:
        return model.state[step + 1, name] == following[step][name]

    model.dynamics = pyo.Constraint(model.STEPS, model.COORDINATES, rule=dynamics_rule)


def _declare_between(model: pyo.ConcreteModel, parts: Sequence[Dynamics | PartOfModel]) -> None:
    """Where the plant is within each step when it is measured; not limited by the box, which holds for the ends of moves."""
    model.MOMENTS = pyo.RangeSet(0, len(parts) - 1)
    model.between = pyo.Var(model.STEPS, model.MOMENTS, model.COORDINATES, initialize=0.0)
    there = {(step, moment): parts[moment].next_values(model, step) for step in model.STEPS for moment in model.MOMENTS}

    def between_rule(model: pyo.ConcreteModel, step: int, moment: int, name: str) -> Any:
        return model.between[step, moment, name] == there[step, moment][name]

    model.on_the_way = pyo.Constraint(model.STEPS, model.MOMENTS, model.COORDINATES, rule=between_rule)
