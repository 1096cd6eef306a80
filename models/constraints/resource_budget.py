"""Resource budget: the sum over the episode of a cost that the user gives, such as fuel, reagent or time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.user_answers import real_numbers
from tcbo_pyomo.foundation.user_lines import defined_at
from tcbo_pyomo.models.components import PyomoModel, add_component
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.cost_data import cost_data

Values = Mapping[str, Array]
Cost = Callable[[Values, Values], Any]


class ResourceBudget(Budget):
    """sum_h cost(x_h, x_{h+1}) <= limit over the episode; what is already spent counts.

    Parameters
    ----------
    resource
        The name of the resource, for messages and the Pyomo component.
    cost
        Function of the values left and arrived at, each `{coordinate: array}` in engineering units, for many moves at
        once: `lambda left, right: 0.2 + abs(right["x"] - left["x"])`. Never negative. For a trajectory it is
        called with Pyomo expressions instead of arrays: write it with + - * / ** and abs(), without numpy.
    limit
        How much an episode may use.
    """

    def __init__(self, resource: str, cost: Cost, limit: float) -> None:
        super().__init__(resource, limit)
        self.cost = cost

    def excess(self, spent: float) -> str:
        """`5.5 used, the budget is 5`."""
        return f"{spent:g} used, the budget is {self.limit:g}"

    def add_to_trajectory(self, model: PyomoModel) -> None:
        """One row: the use of the resource over all steps, as a share of the limit.

        abs() and square roots have no derivative at zero; each becomes a variable that lies above it, so a plan
        keeps the true budget. The cost must not fall where such a term grows.
        """
        from pyomo.environ import Block, Constraint, Expression

        from tcbo_pyomo.models.smooth_cost import SmoothCost

        block = add_component(model, f"{self.label}_use", Block())
        smooth = SmoothCost(block, (self.limit or 1.0) / len(model.STEPS))
        used = []
        for step in model.STEPS:
            left = {name: model.physical[step, name] for name in model.COORDINATES}
            right = {name: model.physical[step + 1, name] for name in model.COORDINATES}
            try:
                cost = self.cost(left, right)
                symbolic = hasattr(cost, "is_expression_type")
                used.append(smooth.walk_expression(cost) if symbolic else 0.0)
            except Exception as error:
                raise BadInput(
                    f"resource_budget '{self.label}': the cost failed on Pyomo expressions "
                    f"({type(error).__name__}: {error}); write it with only + - * / ** and abs()"
                ) from error
            if not symbolic:
                used[-1] = self._constant(cost)
        model.auxiliary_starts.append(smooth.starts(model))
        model.defining_rows += block.bound.values()
        total = sum(used) / (self.limit or 1.0)
        if not hasattr(total, "is_expression_type"):  # Every move costs the same; Pyomo takes no row of numbers alone.
            total = block.total = Expression(expr=total)
        add_component(model, self.short_name, Constraint(expr=total <= float(self.limit > 0)))

    def _constant(self, cost: Any) -> float:
        """A cost that is the same for every move."""
        value = float(real_numbers(cost, (), f"resource_budget '{self.label}': the cost", self.cost))
        if value < 0.0:
            place = f" ({found})" if (found := defined_at(self.cost)) else ""
            raise BadInput(
                f"resource_budget '{self.label}': the cost of a move is {value}; costs must not be negative{place}"
            )
        return value

    def arguments(self, coordinates: Sequence[Coordinate]) -> dict[str, Any] | None:
        """The cost as arithmetic, where it is written so that Pyomo understands it."""
        cost = cost_data(self.cost, coordinates)
        return None if cost is None else {"resource": self.label, "cost": cost, "limit": self.limit}

    def move_costs(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> Array:
        """What the user's function says, checked."""
        names = [c.name for c in coordinates]
        place = f" ({found})" if (found := defined_at(self.cost)) else ""
        try:
            answer = self.cost(dict(zip(names, left.T, strict=True)), dict(zip(names, right.T, strict=True)))
            cost = np.broadcast_to(np.asarray(answer, dtype=float), (len(left),)).copy()
        except Exception as error:
            raise BadInput(
                f"resource_budget '{self.label}': its cost function failed ({type(error).__name__}: {error}); it gets two "
                f"mappings with {', '.join(names)} and returns one value per move{place}"
            ) from error
        wrong = ~(np.isfinite(cost) & (cost >= 0))
        if wrong.any():
            move = f"{left[wrong][0].tolist()} -> {right[wrong][0].tolist()}"
            raise BadInput(
                f"resource_budget '{self.label}': cost of the move {move} is {cost[wrong][0]}; costs must be finite and not "
                f"negative{place}"
            )
        return cost
