"""The action behind each move of an executed path: which allowed action leads from one point to the next, if any does.

With linear dynamics it follows from the two points. Otherwise the action asked for is tried first; where the plant ended
elsewhere, the allowed action whose step ends nearest is sought by least squares over the simulated step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from tcbo_pyomo.errors import TcboError
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.actions import ActionLimits
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.situation import Decision

MODEL_TOLERANCE = 0.01
"""How far a plant may end from where its nonlinear model says, as a share of each axis: no model is better than that."""
MOST_CORNERS = 4
"""Up to so many actions all corners of their box are tried as starts of the search."""
FAR = 1e3
"""Stands for a step that cannot be simulated."""

NextState = Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False)
class ActionsBehind:
    """What is known about the actions of k moves.

    Attributes
    ----------
    actions
        k x q actions, each the asked one where the plant followed it, else the one that fits best; not a number where no
        allowed action leads there.
    asked_miss
        For each move how far the plant ended from where the asked action leads, as a share of the axis (largest of all
        axes); not a number where no action is known.
    """

    actions: Array
    asked_miss: Array


def exact_actions(dynamics: LinearDynamics, points: Array) -> tuple[Array, Array]:
    """The action of each move between scaled points, and by how much it misses where the move arrived."""
    wanted = points[1:] - points[:-1] @ dynamics.state_matrix.T
    actions: Array = np.linalg.lstsq(dynamics.input_matrix, wanted.T, rcond=None)[0].T.astype(float)
    return actions, np.abs(actions @ dynamics.input_matrix.T - wanted).max(axis=1, initial=0.0)


def asked_actions(limits: ActionLimits, moves: int, asked: Sequence[Decision]) -> ActionsBehind:
    """The actions asked for, where nothing can be simulated."""
    actions = np.full((moves, len(limits.names or ())), np.nan)
    for step, action in enumerate(asked):
        actions[step] = np.nan if action is None else action
    return ActionsBehind(actions, np.full(moves, np.nan))


def asked_misses(next_state: NextState, points: Array, asked: Sequence[Decision]) -> Array:
    """How far each move ended from where the action asked for leads, as a share of the axis."""
    misses = np.full(len(points) - 1, np.nan)
    for step, action in enumerate(asked):
        if action is not None:
            expected = _step(next_state, points[step], np.asarray(action, dtype=float))
            misses[step] = np.abs(expected - points[step + 1]).max()
    return misses


def fitted_actions(
    next_state: NextState,
    limits: ActionLimits,
    points: Array,
    asked: Sequence[Decision],
    misses: Array,
    largest_miss: float = MODEL_TOLERANCE,
) -> ActionsBehind:
    """The actions behind the moves between scaled points: the one asked for where it hits, else one that is sought."""
    actions = np.full((len(points) - 1, len(limits.names or ())), np.nan)
    for step, (left, right) in enumerate(pairwise(points)):
        given = None if step >= len(asked) or asked[step] is None else np.asarray(asked[step], dtype=float)
        if given is not None and misses[step] <= largest_miss:
            actions[step] = given
        elif (found := _nearest(next_state, limits, left, right, given)) is not None:
            actions[step] = found
    return ActionsBehind(actions, misses)


def _nearest(
    next_state: NextState, limits: ActionLimits, left: Array, right: Array, asked: Array | None
) -> Array | None:
    """An allowed action whose step ends within the tolerance of `right`; None where none was found."""
    from scipy.optimize import least_squares

    lower, upper = limits.bounds()
    free = upper > lower
    if not free.any():
        return lower if np.abs(_step(next_state, left, lower) - right).max() <= MODEL_TOLERANCE else None

    def action_of(inner: Array) -> Array:
        action = lower.copy()
        action[free] += inner * (upper - lower)[free]
        return limits.clip(action)

    def missed(inner: Array) -> Array:
        return _step(next_state, left, action_of(inner)) - right

    inside = [] if asked is None else [np.clip((asked - lower)[free] / (upper - lower)[free], 0.0, 1.0)]
    inside.append(np.full(int(free.sum()), 0.5))
    if free.sum() <= MOST_CORNERS:
        inside += [np.array(corner) for corner in product((0.1, 0.9), repeat=int(free.sum()))]
    for start in inside:
        answer = least_squares(missed, start, bounds=(0.0, 1.0), xtol=1e-10, ftol=1e-12, max_nfev=60)
        if np.abs(answer.fun).max() <= MODEL_TOLERANCE:
            return action_of(answer.x)
    return None


def _step(next_state: NextState, left: Array, action: Array) -> Array:
    try:
        return np.asarray(next_state(left, action), dtype=float)
    except TcboError:
        return np.full(len(left), FAR)
