"""The trajectory model compiled once, and what changes in it from one re-plan to the next.

The model is written in the absolute steps of an episode. When some moves have been made nothing is rebuilt:
past states and actions get two equal bounds, and rows that only speak of the past are freed. So every
constraint, the user's own included, counts what is already spent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.trajectory import build_trajectory
from tcbo_pyomo.plant.dynamics import Dynamics, NonlinearDynamics
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics, PartOfModel
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.nonlinear.path_objective import PathTerms
from tcbo_pyomo.solvers.nonlinear.programme import compile_nonlinear_model
from tcbo_pyomo.solvers.nonlinear.step_simulator import StepSimulator, simulator_of


class CompiledTrajectory:
    """A trajectory model as arrays: columns for states, actions, and what constraints added, in this order.

    Attributes
    ----------
    model
        The Pyomo model, as the user sees it.
    programme
        Its compiled rows and columns.
    terms
        Which columns are what the black box sees of the points x_1 .. x_H, and of those within each step before them.
    per_step
        Measured points of a step.
    convex
        Whether all rows are linear, or the 2-norm of the actions.
    """

    def __init__(
        self,
        coordinates: Sequence[Coordinate],
        dynamics: Dynamics,
        start: Mapping[str, Any] | Array,
        steps: int,
        constraints: Sequence[TransitionConstraint],
        inputs: Sequence[str] | None = None,
        parts: Sequence[Dynamics | PartOfModel] = (),
        between: Callable[[Array, Array], Array] | None = None,
    ) -> None:
        self.model = build_trajectory(coordinates, dynamics, start, steps, constraints, inputs, parts)
        self._moments, self.per_step = len(parts), len(parts) + 1
        self._points_between = between
        first = [*self.model.state.values(), *self.model.action.values()]
        formulas = dynamics.formulas(self.model) if isinstance(dynamics, ModelDynamics) else ()
        self.programme = compile_nonlinear_model(self.model, first, formulas)
        self.steps, self.dimension, self.inputs = int(steps), len(coordinates), len(self.model.ACTIONS)
        self._states = (self.steps + 1) * self.dimension
        self._path = len(first)
        points = np.arange(self._states).reshape(-1, self.dimension)
        seen = [list(self.model.COORDINATES).index(name) for name in self.model.INPUTS]
        self._column_of = {id(column): i for i, column in enumerate(self.programme.columns)}
        self._between = self._columns_between()
        ways = np.concatenate([self._between, points[1:, None]], axis=1)[:, :, seen]
        self.terms = PathTerms(ways.reshape(-1, len(seen)), len(self.programme.columns))
        self._start_values = self.programme.start_values()
        self._inside = self._inside_steps(dynamics)
        self._has_inside = isinstance(dynamics, NonlinearDynamics) or bool(parts)
        self._own = Bounds(*self.programme.column_bounds(), *self.programme.row_bounds())
        rows, columns = self.programme.jac.sparsity_out(0).get_triplet()
        shape = (len(self.programme.rows), len(self.programme.columns))
        self._incidence = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
        names = [row.parent_component().local_name for row in self.programme.rows]
        self._not_convex = self.programme.nonlinear_rows & np.array([n != "move_limit" for n in names], dtype=bool)
        self.convex = not self._not_convex.any()
        self._end = np.array([name.startswith("end_at") for name in names], dtype=bool)

    def _columns_between(self) -> NDArray[np.int_]:
        """Columns of the points within each step, H x moments x d."""
        names, moments = list(self.model.COORDINATES), range(self._moments)
        places = [
            [[self._column_of[id(self.model.between[h, k, name])] for name in names] for k in moments]
            for h in self.model.STEPS
        ]
        return np.array(places, dtype=int).reshape(self.steps, self._moments, self.dimension)

    def _inside_steps(self, dynamics: Dynamics) -> list[tuple[StepSimulator, NDArray[np.int_]]]:
        """For each step of a user's model who simulates it, and the columns of the variables inside it."""
        if not isinstance(dynamics, ModelDynamics):
            return []
        simulator = simulator_of(dynamics)
        assert isinstance(simulator, StepSimulator)
        steps = (dynamics.links(self.model, step).columns for step in self.model.STEPS)
        return [(simulator, np.array([self._column_of[id(variable)] for variable in step], dtype=int)) for step in steps]

    def bounds(self, path: Array, actions: Array) -> Bounds:
        """Bounds for a plan of the rest of an episode, after `path` (k + 1 x d) and `actions` (k x q)."""
        bounds = Bounds(*(array.copy() for array in self._own))
        for first, given in ((0, path.ravel()), (self._states, actions.ravel())):
            columns = slice(first, first + len(given))
            bounds.column_lower[columns] = bounds.column_upper[columns] = given
        decided, idle = self._decided(bounds)
        bounds.row_lower[decided], bounds.row_upper[decided] = -np.inf, np.inf
        if self._has_inside:
            # What went on inside the steps that are over. Left free it would make the programme singular.
            bounds.column_lower[idle] = bounds.column_upper[idle] = self._start_values[idle]
        return bounds

    def _decided(self, bounds: Bounds) -> tuple[NDArray[np.bool_], NDArray[np.int_]]:
        """Rows, and free columns, that are not connected to any free state or action through columns that are free."""
        free = np.flatnonzero(bounds.column_lower != bounds.column_upper)
        links = self._incidence[:, free]
        number = links.shape[0]
        graph = sparse.bmat([[None, links], [links.T, None]], format="csr")
        _, group = connected_components(graph, directed=False)
        path = number + np.flatnonzero(free < self._path)
        return ~np.isin(group[:number], group[path]), free[~np.isin(group[number:], group[path])]

    def vector(self, states: Array, actions: Array) -> Array:
        """All columns for states (H + 1 x d) and actions (H x q), with what constraints derive from them."""
        values = self._start_values.copy()
        values[: self._states] = states.ravel()
        values[self._states : self._path] = actions.ravel()
        for (simulator, columns), state, action in zip(self._inside, states, actions, strict=False):
            values[columns] = simulator.inside(state, action)
        if self._points_between is not None and self._moments:
            for columns, state, action in zip(self._between, states, actions, strict=False):
                values[columns] = self._points_between(state, action)
        for starts in self.model.auxiliary_starts:
            for variable, value in starts(states):
                values[self._column_of[id(variable)]] = value
        return values

    def read(self, values: Array) -> tuple[Array, Array]:
        """States (H + 1 x d) and actions (H x q) of a vector of columns."""
        states = values[: self._states].reshape(-1, self.dimension)
        return states.copy(), values[self._states : self._path].reshape(-1, self.inputs).copy()

    def convex_relaxation(self, bounds: Bounds) -> Bounds:
        """The bounds without the end and the rows that are not convex: what every plan must at least meet."""
        loose = self._not_convex | self._end
        lower, upper = bounds.row_lower.copy(), bounds.row_upper.copy()
        lower[loose], upper[loose] = -np.inf, np.inf
        return bounds._replace(row_lower=lower, row_upper=upper)
