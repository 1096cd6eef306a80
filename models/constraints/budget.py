"""Budgets: rules of the form `sum of the costs of the moves of an episode <= limit`. What they share, and how to find them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.constraints.transition_constraint import (
    TransitionConstraint,
    Usage,
    Violation,
    share_of,
    transition_endpoints,
)
from tcbo_pyomo.models.episode_path import EpisodePath, allowance

if TYPE_CHECKING:
    from tcbo_pyomo.plant.process import Process


class Budget(TransitionConstraint, ABC):
    """sum_h cost(x_h, x_{h+1}) <= limit over the episode; what is already spent counts.

    With random transitions the plan keeps it in expectation, and no move is made after which even the most careful
    continuation could exceed it in the worst case.

    Parameters
    ----------
    label
        What is used up, for messages and the Pyomo component.
    limit
        How much an episode may use.
    """

    may_end_early: ClassVar[bool] = True

    def __init__(self, label: str, limit: float) -> None:
        self.label = label
        if not math.isfinite(limit) or limit < 0:
            raise BadInput(f"{super().short_name} '{label}': limit {limit!r} must be finite and not negative")
        self.limit = float(limit)

    @abstractmethod
    def move_costs(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Array:
        """What each of n moves uses, from the points left and arrived at (n x d)."""

    @abstractmethod
    def excess(self, spent: float) -> str:
        """That so much is too much, in words."""

    @property
    def name(self) -> str:
        """Class name with what is used up."""
        return f"{type(self).__name__}({self.label})"

    @property
    def short_name(self) -> str:
        """`fuel_budget`."""
        return f"{self.label}_budget"

    def transition_cost(self, process: Process) -> Array:
        """What each stored transition uses."""
        return self.move_costs(process.coordinates, *transition_endpoints(process))

    def add_to_polytope(self, model: PyomoModel) -> None:
        """One row: the expected use over all steps of the episode.

        `model.budget_rows` has the name of its component, which is absent where nothing the plant can do uses the budget.
        """
        from pyomo.common.modeling import unique_component_name
        from pyomo.core.expr.numeric_expr import LinearExpression
        from pyomo.environ import Constraint

        process = model.process
        expected = process.transitions.data * self.transition_cost(process)
        cost = np.bincount(process.transition_pair, expected, minlength=process.number_of_pairs)[model.move_pair]
        used = np.flatnonzero(cost)
        component = model.budget_rows[self.name] = unique_component_name(model, self.short_name)
        if len(used):
            variables = list(model.visitation.values())
            use = LinearExpression(linear_coefs=cost[used].tolist(), linear_vars=[variables[i] for i in used])
            model.add_component(component, Constraint(expr=use <= self.limit))

    def spent(self, coordinates: Sequence[Coordinate], path: Array) -> float:
        """What a path of points has used."""
        return float(self.move_costs(coordinates, path[:-1], path[1:]).sum())

    def slack(self, path: EpisodePath) -> float:
        """What is left of it."""
        return self.limit - self.spent(path.coordinates, path.points)

    def violations(self, path: EpisodePath) -> list[Violation]:
        """The first step at which the budget is exceeded."""
        spent = np.cumsum(self.move_costs(path.coordinates, path.left, path.right))
        over = np.flatnonzero(spent > self.limit + allowance(self.limit))
        return [Violation(self.name, int(over[0]), self.excess(float(spent[over[0]])))] if len(over) else []

    def usage(self, paths: Sequence[EpisodePath], now: EpisodePath | None) -> list[Usage]:
        """What the most expensive episode has used, and the present one."""
        most = max((self.spent(path.coordinates, path.points) for path in paths), default=0.0)
        present = 0.0 if now is None else self.spent(now.coordinates, now.points)
        used = f"{most:.4g} in the most expensive episode, {present:.4g} in this one"
        return [Usage(f"at most {self.limit:.4g} per episode", used, share_of(most, self.limit))]


def only_budget(coupling: Sequence[TransitionConstraint]) -> Budget | None:
    """The budget that alone couples the steps of an episode; None where other rules do, or rows of its own."""
    if len(coupling) != 1 or not isinstance(coupling[0], Budget):
        return None
    return coupling[0] if type(coupling[0]).add_to_polytope is Budget.add_to_polytope else None


def budgets_of(rules: Iterable[TransitionConstraint]) -> list[Budget]:
    """The budgets among some rules."""
    return [rule for rule in rules if isinstance(rule, Budget)]
