"""A rule of the user's own with the rows of one of its components loosened, for the price of its limit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.components import PyomoModel, new_rows, row_limits
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.plant.process import Process


class LooserRows(TransitionConstraint):
    """Does what another rule does; each row of `component` has `amount` more room on every side that limits it."""

    def __init__(self, rule: TransitionConstraint, component: str, amount: float) -> None:
        self.rule, self.component, self.amount = rule, component, amount

    @property
    def name(self) -> str:
        """The name of the rule itself."""
        return self.rule.name

    def allowed_transitions(self, process: Process) -> Mask | None:
        """What the rule allows."""
        return self.rule.allowed_transitions(process)

    def allowed_points(self, coordinates: Sequence[Coordinate], points: Array) -> Mask | None:
        """What the rule allows."""
        return self.rule.allowed_points(coordinates, points)

    def allowed_states(self, process: Process, step: int, horizon: int) -> Mask | None:
        """What the rule allows."""
        return self.rule.allowed_states(process, step, horizon)

    def add_to_polytope(self, model: PyomoModel) -> None:
        """The rule's rows, some of them looser."""
        for row in new_rows(model, self.rule.add_to_polytope):
            if row.parent_component().local_name == self.component:
                lower, upper = (None if math.isinf(limit) else limit for limit in row_limits(row))
                lower = None if lower is None else lower - self.amount
                row.set_value((lower, row.body, None if upper is None else upper + self.amount))
