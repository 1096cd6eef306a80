"""How much room a plan leaves under a rule, in the rule's own unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index, physical
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.declared_limits import step_limits
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.plant.process import Process


def visitation_slack(rule: TransitionConstraint, process: Process, plan: Visitation) -> float | None:
    """The smallest room of any move of a plan; None for rules that are kept or broken, with nothing in between."""
    if not isinstance(rule, MaximumStep):
        return None
    moves = process.transitions[plan.pair]
    left = process.states[np.repeat(process.pair_state[plan.pair], np.diff(moves.indptr))]
    return _step_slack(rule, process.coordinates, process.states[moves.indices] - left)


def path_slack(rule: TransitionConstraint, problem: Any, path: Array) -> float | None:
    """The smallest room along a path of scaled points, or what it leaves of a budget; None where it is no number."""
    points = physical(problem.coordinates, path)
    if isinstance(rule, MaximumStep):
        return _step_slack(rule, problem.coordinates, np.diff(points, axis=0))
    if isinstance(rule, Budget):
        return rule.limit - rule.spent(problem.coordinates, points)
    return None


def _step_slack(rule: MaximumStep, coordinates: Sequence[Coordinate], changes: Array) -> float:
    rooms = []
    for coordinate, down, up in step_limits(rule, coordinates):
        change = changes[:, coordinate_index(coordinates, coordinate.name)]
        rooms.append(min(up - change.max(), down + change.min()))
    return max(0.0, float(min(rooms)))
