"""Resource budget: the sum over the episode of a cost that the user gives, such as fuel, reagent or time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.transition_constraint import (
    TransitionConstraint,
    Violation,
    transition_endpoints,
)
from tcbo_pyomo.plant.process import Process

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

Values = Mapping[str, Array]
Cost = Callable[[Values, Values], Any]


class ResourceBudget(TransitionConstraint):
    """sum_h cost(x_h, x_{h+1}) <= limit over the episode; what is already spent counts.

    Parameters
    ----------
    resource
        The name of what is used up, for messages and the Pyomo component.
    cost
        Function of the values left and arrived at, each `{coordinate: array}` in engineering units, for many moves at
        once: `lambda left, right: 0.2 + abs(right["x"] - left["x"])`. Never negative. For a trajectory it is
        called with Pyomo expressions instead of arrays: write it with + - * / ** and abs(), without numpy.
    limit
        How much an episode may use. With random transitions the plan keeps it in expectation, and no move is made after
        which even the most careful continuation could exceed it in the worst case.
    """

    couples_steps: ClassVar[bool] = True

    def __init__(self, resource: str, cost: Cost, limit: float) -> None:
        if not math.isfinite(limit) or limit < 0:
            raise BadInput(f"resource_budget '{resource}': limit {limit!r} must be finite and not negative")
        self.resource, self.cost, self.limit = resource, cost, float(limit)

    @property
    def name(self) -> str:
        """Class name with the resource."""
        return f"ResourceBudget({self.resource})"

    def transition_cost(self, process: Process) -> Array:
        """What each stored transition uses."""
        return self._cost(process.coordinates, *transition_endpoints(process))

    def add_to_polytope(self, model: ConcreteModel) -> None:
        """One row: expected use of the resource over all steps of the episode."""
        from tcbo_pyomo.models.state_action_polytope import add_budget_row

        cost = self.transition_cost(model.process)
        add_budget_row(model, self.name, f"{self.resource}_budget", cost, self.limit)

    def add_to_trajectory(self, model: ConcreteModel) -> None:
        """One row: the use of the resource over all steps, as a share of the limit.

        abs() and square roots have no derivative at zero; each becomes a variable that lies above it, so a plan
        keeps the true budget. The cost must not fall where such a term grows.
        """
        from pyomo.environ import Block, Constraint

        from tcbo_pyomo.models.regions.smooth_cost import SmoothCost
        from tcbo_pyomo.models.trajectory import add_component

        block = add_component(model, f"{self.resource}_use", Block())
        smooth = SmoothCost(block, (self.limit or 1.0) / len(model.STEPS))
        used = []
        for step in model.STEPS:
            left = {name: model.physical[step, name] for name in model.COORDINATES}
            right = {name: model.physical[step + 1, name] for name in model.COORDINATES}
            try:
                used.append(smooth.upper_bound(self.cost(left, right)))
            except Exception as error:
                raise BadInput(
                    f"resource_budget '{self.resource}': the cost failed on Pyomo expressions "
                    f"({type(error).__name__}: {error}); write it with + - * / ** and abs() only"
                ) from error
        model.auxiliary_starts.append(smooth.starts(model))
        total = sum(used) / (self.limit or 1.0)
        add_component(model, f"{self.resource}_budget", Constraint(expr=total <= float(self.limit > 0)))

    def spent(self, coordinates: Sequence[Coordinate], path: Array) -> float:
        """What a path of points has used."""
        return float(self._cost(coordinates, path[:-1], path[1:]).sum())

    def violations(self, coordinates: Sequence[Coordinate], path: Array, complete: bool) -> list[Violation]:
        """The first step at which the budget is exceeded."""
        spent = np.cumsum(self._cost(coordinates, path[:-1], path[1:]))
        over = np.flatnonzero(spent > self.limit + 1e-6 * max(1.0, self.limit))
        if len(over) == 0:
            return []
        return [Violation(self.name, int(over[0]), f"{spent[over[0]]:g} used, the budget is {self.limit:g}")]

    def _cost(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Array:
        names = [c.name for c in coordinates]
        try:
            answer = self.cost(dict(zip(names, left.T, strict=True)), dict(zip(names, right.T, strict=True)))
            cost = np.broadcast_to(np.asarray(answer, dtype=float), (len(left),)).copy()
        except Exception as error:
            raise BadInput(
                f"resource_budget '{self.resource}': its cost function failed ({type(error).__name__}: {error}); it gets two "
                f"mappings with {', '.join(names)} and returns one value per move"
            ) from error
        if not (np.isfinite(cost) & (cost >= 0)).all():
            worst = int((~(np.isfinite(cost) & (cost >= 0))).argmax())
            raise BadInput(
                f"resource_budget '{self.resource}': cost of the move {left[worst].tolist()} -> "
                f"{right[worst].tolist()} "
                f"is {cost[worst]}; costs must be finite and not negative"
            )
        return cost
