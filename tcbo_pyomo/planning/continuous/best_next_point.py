"""The best point within reach of one move: what methods that do not plan maximise.

The search runs over the actions a, so that it fits every kind of dynamics x' = F(x, a) and of limits: many starts
follow g(F(x, a)) uphill with the gradient (dF/da)^T g'(x'), and never step where a rule of the plant is broken.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import maximise_many
from tcbo_pyomo.candidates.search.start_points import Functions
from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.planning.continuous.one_step_moves import Reach
from tcbo_pyomo.plant.actions import NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics

STARTS_PER_ACTION = 12
LONGEST_SLIDE, SHORTEST_SLIDE = 0.1, 1e-5
"""Steps along the edge of what is allowed, as shares of the range of the actions."""
DIFFERENCE = 1e-6
"""Step of the differences that give dF/da of nonlinear dynamics, as a share of the range of the action."""


def best_next_point(surface: Functions, reach: Reach, generator: np.random.Generator) -> tuple[Array, float]:
    """The inputs (p) with the largest value of one function among those that one move leads to, and that value."""
    after = AfterMove(surface, reach)
    starts = reach.draw(STARTS_PER_ACTION * len(reach.lower), generator)
    usable = reach.allowed(starts)
    if not usable.any():
        # No action keeps every rule on its own: the best of those drawn is a point to steer towards.
        best = int(after.value(starts).argmax())
        return reach.inputs(starts[best : best + 1])[0], float(after.value(starts)[best, 0])
    box = reach.lower, reach.upper
    if not reach.problem.rules and reach.dynamics.is_free_move:
        action, value = (found[0] for found in maximise_many(after, *box, starts[usable][None]))
    else:
        found = maximise_many(after, *box, starts[usable][None], after.allowed)
        action, value = _along_the_edge(after, found.points[0], float(found.values[0]), generator)
    return reach.inputs(after.actions(action[None]))[0], float(value)


def _along_the_edge(
    after: AfterMove, action: Array, value: float, generator: np.random.Generator
) -> tuple[Array, float]:
    """Slide on from where a rule stopped the ascent: a pattern search along the axes and some random directions.

    `maximizers.edge_search` is more exact on round edges, but asks much more often what is allowed, which is expensive here:
    each answer looks at whole moves and at whether the episode can still be ended.
    """
    lower, upper, number = after.reach.lower, after.reach.upper, len(action)
    step, axes = LONGEST_SLIDE, np.eye(number)
    while step > SHORTEST_SLIDE:
        oblique = generator.standard_normal((2 * number, number))
        oblique /= np.linalg.norm(oblique, axis=1, keepdims=True)
        trials = np.clip(action + step * (upper - lower) * np.vstack([axes, -axes, oblique]), lower, upper)
        values = np.where(after.allowed(trials), after.value(trials)[:, 0], -np.inf)
        best = int(values.argmax())
        if values[best] > value:
            action, value = trials[best], float(values[best])
        else:
            step *= 0.5
    return action, value


class AfterMove:
    """A function of the point arrived at, as a function of the action wanted: one of the `Functions` to maximise."""

    count = 1

    def __init__(self, surface: Functions, reach: Reach) -> None:
        self.surface, self.reach = surface, reach

    def rough(self) -> AfterMove:
        """Itself."""
        return self

    def actions(self, wanted: Array) -> Array:
        """The actions taken: those wanted, a long one shortened to the largest length allowed."""
        return self.reach.dynamics.actions.clip(wanted)

    def allowed(self, wanted: Array) -> Mask:
        """Which of n actions, as they would be taken, obey every rule."""
        return self.reach.allowed(self.actions(wanted))

    def value(self, points: Array) -> Array:
        """The function after n actions, n x 1."""
        return self.surface.value(self.reach.inputs(self.actions(points)))

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """The function after n actions (n) and its gradient with respect to them (n x q)."""
        taken = self.actions(points)
        value, slope = self.surface.value_and_gradient(self.reach.inputs(taken), owner)
        slope = self._along_actions(taken, slope)
        limits = self.reach.dynamics.actions
        if isinstance(limits, NormActions):
            # Beyond the largest length only the direction counts: r w / |w| has the derivative (r / |w|) (I - u u^T).
            length = np.linalg.norm(points, axis=1, keepdims=True)
            share = limits.maximum / np.maximum(length, limits.maximum)
            unit = points / np.maximum(length, limits.maximum)
            outward = (unit * slope).sum(axis=1, keepdims=True) * unit
            slope = np.where(share < 1.0, share * (slope - outward), slope)
        return value, slope

    def _along_actions(self, taken: Array, slope: Array) -> Array:
        """(dF/da)^T g'(x'), n x q."""
        dynamics = self.reach.dynamics
        if isinstance(dynamics, LinearDynamics):
            return slope @ dynamics.input_matrix[self.reach.problem.input_columns]
        here, columns = self.reach.inputs(taken), []
        for action, width in enumerate(self.reach.upper - self.reach.lower):
            moved = taken.copy()
            moved[:, action] += DIFFERENCE * width
            columns.append(((self.reach.inputs(moved) - here) * slope).sum(axis=1) / (DIFFERENCE * width))
        return np.stack(columns, axis=1)
