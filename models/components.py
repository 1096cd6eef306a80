"""What constraints add to a Pyomo model: components under a free name, and rows of budgets.

Pyomo is imported where it is used: constraints are also asked what they allow, and that has to start up quickly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


def add_component(model: ConcreteModel, name: str, component: Any) -> Any:
    """Add a Pyomo component under `name`, or the next free name when two constraints of a kind are in use."""
    from pyomo.common.modeling import unique_component_name

    free = unique_component_name(model, name)
    model.add_component(free, component)
    return getattr(model, free)


def add_budget_row(model: ConcreteModel, budget: str, name: str, transition_cost: Array, limit: float) -> None:
    """Add `expected cost of the episode <= limit` as component `name`, with one cost per stored transition.

    `model.budget_rows[budget]` is the name of the component; it is absent where nothing the plant can do uses the budget.
    """
    from pyomo.common.modeling import unique_component_name
    from pyomo.core.expr.numeric_expr import LinearExpression
    from pyomo.environ import Constraint

    process = model.process
    pair_cost = np.bincount(
        process.transition_pair, process.transitions.data * transition_cost, minlength=process.number_of_pairs
    )
    cost = pair_cost[model.move_pair]
    used = np.flatnonzero(cost)
    component = unique_component_name(model, name)
    model.budget_rows[budget] = component
    if len(used):
        variables = list(model.visitation.values())
        use = LinearExpression(linear_coefs=cost[used].tolist(), linear_vars=[variables[i] for i in used])
        model.add_component(component, Constraint(expr=use <= limit))


def new_rows(model: ConcreteModel, add: Callable[[ConcreteModel], None]) -> list[Any]:
    """The active rows that `add` puts into a model."""
    from pyomo.environ import Block, Constraint

    before = set(model.component_map())
    add(model)
    added = [component for name, component in model.component_map().items() if name not in before]
    rows = [row for component in added if component.ctype is Constraint for row in component.values()]
    blocks = [block for component in added if component.ctype is Block for block in component.values()]
    rows += [row for block in blocks for row in block.component_data_objects(Constraint)]
    return [row for row in rows if row.active]
