"""A step of a user's pyomo.dae model in many small steps: what its discretisation should have given.

The equations of one moment, F(x', x, y, u) = 0, are taken from the model and integrated by the three-stage Radau IIA method
(order 5, stiff and implicit equations allowed), with as many small steps as it takes until twice as many change nothing. The
discretisation of the plan is not used. A model whose equations contain time itself is taken as it is at the end of the step.
"""

from __future__ import annotations

import casadi
import numpy as np

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical, scaled
from tcbo_pyomo.models.trajectory import build_trajectory
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.solvers.nonlinear.programme import compile_nonlinear_model
from tcbo_pyomo.solvers.nonlinear.step_simulator import StepSimulator, simulator_of

ROOT = 6.0**0.5
RADAU = np.array(
    [
        [(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
        [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
        [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9],
    ]
)
"""The matrix of the method: stage i is x + h sum_j RADAU[i, j] x'_j; the last stage is the next x."""
MOMENTS = RADAU.sum(axis=1)
FEWEST, MOST = 8, 512
"""Small steps of the first attempt, and of the last."""
ALLOWED = 1e-7
"""By how much the equations of a small step, which are scaled to one, may be missed."""
SETTLED = 1e-7
"""Share of a coordinate's range that twice as many small steps may still change."""


class FineSteps:
    """x_{h+1} = F(x_h, a_h) of a user's model, by small steps."""

    def __init__(self, dynamics: ModelDynamics) -> None:
        simulator = simulator_of(dynamics)
        assert isinstance(simulator, StepSimulator) and dynamics.duration is not None
        self._dynamics, self._simulator, self._duration = dynamics, simulator, dynamics.duration
        model = build_trajectory(dynamics.coordinates, dynamics, np.zeros(len(dynamics.coordinates)), 1)
        links = dynamics.links(model, 0)
        formulated = [variable for variable, _ in links.formulas]
        programme = compile_nonlinear_model(model, [*links.columns, *formulated])
        self._programme = programme
        column = {id(variable): place for place, variable in enumerate(programme.columns)}
        row = {id(constraint): place for place, constraint in enumerate(programme.rows)}
        chosen = [row[id(law)] for law in links.laws]
        laws = programme.expressions[chosen] - casadi.DM(programme.row_bounds()[0][chosen])
        used = np.flatnonzero(casadi.which_depends(laws, programme.variables, 1, False)).tolist()
        self._first = [start for start, _, _ in links.differential]
        self._at_start = [column.get(id(start)) for start in self._first]
        ends = [column[id(end)] for _, end, _ in links.differential]
        slopes = [column[id(slope)] for _, _, slope in links.differential]
        inputs = [column[id(over_time[-1][1])] for over_time in links.inputs]
        others = [place for place in used if place not in {*ends, *slopes, *inputs}]
        self._unknown = [*ends, *slopes, *others]
        x, parameters = programme.variables, programme.parameter_symbols
        groups = [x[ends], x[slopes], x[others], x[inputs], parameters]
        self._law = casadi.Function("law", groups, [laws])
        values = programme.start_values()
        self._sizes = casadi.DM(np.where(values[ends] == 0.0, 1.0, np.abs(values[ends])))
        self._newton = self._small_step(len(ends), len(others), len(inputs), parameters.numel(), len(chosen))
        self._result = [self._unknown.index(column[id(end)]) for end in links.ends]

    def _small_step(self, states: int, others: int, inputs: int, parameters: int, laws: int) -> casadi.Function:
        """One small step as a root finder: the unknowns of three stages from x, the length, the inputs and the parameters."""
        width = 2 * states + others
        if laws + states != width:
            raise SolverFailed(f"the model has {laws} equations at a moment for {states + others} unknowns")
        unknowns = casadi.MX.sym("stages", width, 3)
        before, length = casadi.MX.sym("x", states), casadi.MX.sym("h")
        moved, given = casadi.MX.sym("u", inputs, 3), casadi.MX.sym("p", parameters)
        rows = []
        for stage in range(3):
            x, slope = unknowns[:states, stage], unknowns[states : 2 * states, stage]
            reached = before + length * sum(float(RADAU[stage, j]) * unknowns[states : 2 * states, j] for j in range(3))
            rows += [
                self._law(x, slope, unknowns[2 * states :, stage], moved[:, stage], given),
                (x - reached) / self._sizes,
            ]
        p = casadi.vertcat(before, length, casadi.vec(moved), given)
        options = {"error_on_fail": False, "show_eval_warnings": False, "abstol": 1e-10, "max_iter": 50}
        equations = {"x": casadi.vec(unknowns), "p": p, "g": casadi.vertcat(*rows)}
        self._states = states
        self._missed = casadi.Function("missed", [equations["x"], p], [casadi.mmax(casadi.fabs(equations["g"]))])
        return casadi.rootfinder("small_step", "newton", equations, options)

    def next_state(self, state: Array, action: Array) -> Array:
        """The scaled state (d) after `action` (q) in the scaled state (d)."""
        number, before = FEWEST, self._reached(state, action, FEWEST)
        while number < MOST:
            number *= 2
            after = self._reached(state, action, number)
            if np.abs(after - before).max() <= SETTLED:
                return after
            before = after
        raise SolverFailed(f"{MOST} small steps are not enough to follow the model over a step")

    def _reached(self, state: Array, action: Array, number: int) -> Array:
        """The scaled state after so many small steps."""
        dynamics = self._dynamics
        inside = np.concatenate([self._simulator.inside(state, action), self._simulator.formulas(state, action)])
        values = np.concatenate([inside, self._programme.start_values()[len(inside) :]])
        x = np.array(
            [float(v.value) if p is None else values[p] for v, p in zip(self._first, self._at_start, strict=True)]
        )
        names = [c.name for c in dynamics.coordinates]
        present = dict(zip(names, physical(dynamics.coordinates, state).tolist(), strict=True))
        decided = dict(zip(dynamics.actions.names or (), np.ravel(action).tolist(), strict=True))
        stages = np.tile(values[self._unknown], 3)
        parameters = self._programme.parameter_values()
        for small in range(number):
            moved = [dynamics.function.inputs_at(present, decided, (small + moment) / number) for moment in MOMENTS]
            given = np.concatenate([x, [self._duration / number], np.ravel(moved), parameters])
            stages = np.array(self._newton(stages, given)).ravel()
            x = stages[-len(self._unknown) :][: self._states]
            missed = float(self._missed(stages, given))
            if not missed <= ALLOWED:
                raise SolverFailed(f"small step {small + 1} of {number}: Newton's method fails (residual {missed:.1e})")
        last = stages[-len(self._unknown) :][self._result]
        written = dynamics.function.written(last.tolist(), present, decided)
        return scaled(dynamics.coordinates, written)
