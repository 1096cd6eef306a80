"""What the plant can do, on executed paths: which moves no action of the model leads to."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import scaled
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.process import Process

TOLERANCE = 1e-6
"""Distance that still counts as the same place, as a share of each axis."""
ACTION_TOLERANCE = 1e-5
"""By how much an action worked out from a path may pass its limit, as a share of the limit."""


def judges_moves(problem: Any) -> bool:
    """Whether the action of a move can be worked out from where it began and ended."""
    if problem.finite:
        return True
    dynamics = problem.dynamics
    if not isinstance(dynamics, LinearDynamics):
        return False
    return int(np.linalg.matrix_rank(dynamics.input_matrix)) == dynamics.input_matrix.shape[1]


def impossible_moves(problem: Any, path: Array) -> list[tuple[int, str, str]]:
    """(step, limit, value) of every move of a path ((k + 1) x d, engineering units) that the plant cannot make."""
    return _not_in_process(problem, path) if problem.finite else _not_in_dynamics(problem, path)


def moves_removed_by(rule: TransitionConstraint, problem: Any, path: Array) -> list[int]:
    """Steps of a path whose move exists in the process, and which a rule about single moves removes."""
    process: Process = problem.process
    allowed = rule.allowed_transitions(process)
    if allowed is None:
        return []
    states = states_at(process, path)
    removed = []
    for step, (left, right) in enumerate(pairwise(states)):
        entries = _entries(process, left, right)
        if len(entries) and not allowed[entries].any():
            removed.append(step)
    return removed


def states_at(process: Process, points: Array) -> list[int | None]:
    """The state at each point; None where there is none."""
    found: list[int | None] = []
    for point in scaled(process.coordinates, points):
        distance = np.abs(point - process.scaled_states).max(axis=1)
        nearest = int(distance.argmin())
        found.append(nearest if distance[nearest] <= TOLERANCE else None)
    return found


def _entries(process: Process, left: int | None, right: int | None) -> Array:
    """Stored transitions from one state to another."""
    if left is None or right is None:
        return np.empty(0, dtype=np.int64)
    pairs = process.pairs_of(left)
    first, last = process.transitions.indptr[pairs.start], process.transitions.indptr[pairs.stop]
    return first + np.flatnonzero(process.transitions.indices[first:last] == right)


def _not_in_process(problem: Any, path: Array) -> list[tuple[int, str, str]]:
    process: Process = problem.process
    states = states_at(process, path)
    found = []
    for step, (left, right) in enumerate(pairwise(states)):
        if right is None:
            found.append((step, "the states of the process", f"no state at {_text(problem, path[step + 1])}"))
        elif left is not None and len(_entries(process, left, right)) == 0:
            value = f"no action leads from '{process.labels[left]}' to '{process.labels[right]}'"
            found.append((step, "the moves of the process", value))
    return found


def _not_in_dynamics(problem: Any, path: Array) -> list[tuple[int, str, str]]:
    """Points outside the box; where the action follows from the two points, actions beyond their limits."""
    points = scaled(problem.coordinates, path)
    found = [
        (int(step), f"{c.title} in [{c.lower:g}, {c.upper:g}]", f"{c.title} was {path[step + 1, axis]:g}")
        for axis, c in enumerate(problem.coordinates)
        for step in np.flatnonzero(np.abs(points[1:, axis]) > 0.5 + TOLERANCE)
    ]
    if not judges_moves(problem):
        return found
    dynamics = problem.dynamics
    wanted = points[1:] - points[:-1] @ dynamics.state_matrix.T
    actions = np.linalg.lstsq(dynamics.input_matrix, wanted.T, rcond=None)[0].T
    missed = np.abs(actions @ dynamics.input_matrix.T - wanted).max(axis=1)
    nearest = dynamics.actions.clip(actions)
    beyond = np.abs(actions - nearest).max(axis=1) > ACTION_TOLERANCE * np.maximum(1.0, np.abs(nearest).max(axis=1))
    for step in np.flatnonzero(missed > ACTION_TOLERANCE):
        found.append((int(step), "the dynamics", f"no action leads to {_text(problem, path[step + 1])}"))
    for step in np.flatnonzero(beyond & (missed <= ACTION_TOLERANCE)):
        limit, value = (_actions(dynamics, row[step]) for row in (nearest, actions))
        found.append((int(step), f"the nearest actions allowed: {limit}", f"it took {value}"))
    return found


def _actions(dynamics: LinearDynamics, values: Array) -> str:
    return ", ".join(f"{name} {v:.4g}" for name, v in zip(dynamics.actions.names or (), values, strict=True))


def _text(problem: Any, point: Array) -> str:
    return ", ".join(f"{c.name}={v:g}" for c, v in zip(problem.coordinates, point, strict=True))
